"""Bodies are read strictly, and only here: what does not fit is answered with what would have been right."""

import re
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import inspect as types

from api.http.headers import Req, header
from api.http.problems import Problem

T = TypeVar("T")

_STEP = re.compile(r"\.(\w+)|\[(?:\d+|\.\.\.)\]")


class Body(Generic[T]):
    """The body of a call: JSON of one type."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    async def read(self, request: Req) -> T:
        """The body of this request. Raises :class:`~api.http.problems.Problem` 400, 413 or 415."""
        media_type = header(request, b"content-type")
        if media_type is not None and media_type.partition(";")[0].strip().lower() != "application/json":
            raise Problem("wrong_media_type")
        body = await _whole(request)
        if media_type is None and body:
            raise Problem("wrong_media_type")
        try:
            decoded: T = self._decode(body)
        except msgspec.ValidationError as error:
            raise Problem("unreadable", reason=str(error), **_allowed(self.kind, body, str(error))) from None
        except RecursionError:
            raise Problem("unreadable", reason="It is nested too deeply") from None
        except UnicodeDecodeError:
            raise Problem("unreadable", reason="It is not UTF-8") from None
        except msgspec.DecodeError as error:
            raise Problem("unreadable", reason=str(error)) from None
        return decoded


async def _whole(request: Req) -> bytes:
    """All of the body. The library's own way makes an object of every header first, to look at one."""
    body, most, more = b"", request.app.request_max_body_size, True
    while more:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Problem("unreadable", reason="The body ended early")
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if isinstance(most, int) and len(body) > most:
            raise Problem("too_large", limit_bytes=most)
    return body


def _allowed(kind: Any, body: bytes, message: str) -> dict[str, Any]:
    """What could have stood where the body went wrong, if that can be listed: fields, or one of some values."""
    _, _, path = message.partition(" - at `$")
    try:
        value = msgspec.json.decode(body)
        here = _one(types.type_info(kind), value)
        for step in _STEP.finditer(path):
            if isinstance(here, types.UnionType):  # it is the tag itself that is wrong
                break
            here, value = _inside(here, value, step[1])
            here = _one(here, value)
    except (LookupError, TypeError, AttributeError, StopIteration, RecursionError, ValueError):
        return {}
    return _choices(here)


def _inside(here: Any, value: Any, name: str | None) -> tuple[Any, Any]:
    if name is None:
        item = here.item_type if hasattr(here, "item_type") else here.item_types[0]
        return item, value[0] if value else None
    if isinstance(here, types.StructType):
        return next(field.type for field in here.fields if field.encode_name == name), value.get(name)
    raise TypeError(name)


def _one(here: Any, value: Any) -> Any:
    """The member of a union that the value is meant to be, as far as its tag tells."""
    while isinstance(here, types.Metadata):
        here = here.type
    if not isinstance(here, types.UnionType):
        return here
    members = [member.type if isinstance(member, types.Metadata) else member for member in here.types]
    structs = [member for member in members if isinstance(member, types.StructType)]
    if len(structs) == 1:
        return structs[0]
    if structs and isinstance(value, dict):
        return next((struct for struct in structs if struct.tag == value.get(struct.tag_field)), here)
    literals = [member for member in members if isinstance(member, types.LiteralType)]
    whole = len(literals) == 1 and len(here.types) == 2 and (here.includes_none or isinstance(value, str))
    return literals[0] if whole else here


def _choices(here: Any) -> dict[str, Any]:
    if isinstance(here, types.StructType):
        fields = [field.encode_name for field in here.fields]
        return {"allowed": [*([here.tag_field] if here.tag_field else []), *fields]}
    if isinstance(here, types.LiteralType):
        return {"allowed": list(here.values)}
    if isinstance(here, types.UnionType):
        tags = [struct.tag for struct in here.types if isinstance(struct, types.StructType) and struct.tag]
        return {"allowed": tags} if tags else {}
    return {}
