"""How a long answer is given."""

from collections.abc import Mapping

from api.http.headers import Req, held, packed_tag, tag_by, takes_gzip
from api.http.packing import PACK_FROM, packed
from api.http.replies import GZIP, JSON, PRIVATE, Reply, named, not_modified, with_texts
from api.http.threads import in_long_thread
from referee.store.command import Busy


async def long_reply(
    request: Req, body: bytes, tag: str, *, headers: Mapping[str, str] = PRIVATE, media_type: str = JSON
) -> Reply:
    """An answer that may be long, with texts in their places: packed in a thread where that is worth it and the
    reader takes it."""
    body = await with_texts(request.scope, body, media_type)
    if len(body) >= PACK_FROM and takes_gzip(request):
        try:
            body = await in_long_thread(packed, body)
        except Busy:
            pass  # there is an answer: it goes as it is
        else:
            headers, tag = {**headers, **GZIP}, packed_tag(tag)
    return Reply(body, media_type=media_type, headers=named(tag, headers), whole=True)


async def marked_reply(request: Req, body: bytes, *, headers: Mapping[str, str] = PRIVATE) -> Reply:
    """An answer that has no version: its tag is a mark of what it says; or that the reader has it."""
    tag = tag_by(body)
    if has := held(request, tag):
        return not_modified(has, headers)
    return await long_reply(request, body, tag, headers=headers)
