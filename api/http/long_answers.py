"""Makes answers that a thread compresses."""

from collections.abc import Mapping

from api.http.headers import Req, matching_etag, packed_tag, tag_of_body, takes_gzip
from api.http.member_texts import NO_TEXTS, MemberTexts
from api.http.packing import PACK_FROM, compress
from api.http.replies import GZIP, JSON, PRIVATE, Reply, etag_headers, not_modified
from api.http.threads import in_long_thread
from referee.store.command import Busy


async def long_reply(
    request: Req,
    body: bytes,
    tag: str,
    texts: MemberTexts,
    *,
    headers: Mapping[str, str] = PRIVATE,
    media_type: str = JSON,
) -> Reply:
    """Return an answer, compressed if it is long and the client accepts gzip, unless threads are busy."""
    body = await texts.resolve(body, media_type)
    if len(body) >= PACK_FROM and takes_gzip(request):
        try:
            body = await in_long_thread(compress, body)
        except Busy:
            pass  # because compression is optional
        else:
            headers, tag = {**headers, **GZIP}, packed_tag(tag)
    return Reply(body, NO_TEXTS, media_type=media_type, headers=etag_headers(texts.mark_tag(tag), headers))


async def marked_reply(
    request: Req,
    body: bytes,
    texts: MemberTexts,
    *,
    headers: Mapping[str, str] = PRIVATE,
    media_type: str = JSON,
) -> Reply:
    """Return :func:`long_reply`, or 304 if the caller already has the answer. Its ETag is a hash of ``body``."""
    tag = tag_of_body(body)
    if has := matching_etag(request, tag, texts):
        return not_modified(has, headers)
    return await long_reply(request, body, tag, texts, headers=headers, media_type=media_type)
