"""What a request asks for."""

from urllib.parse import urlencode

from api.http.headers import Req


def more(request: Req, **changed: object) -> dict[str, str]:
    """The header that says where the next page is: the same question, from there on (RFC 8288)."""
    asked = {**dict(request.query_params), **changed}
    return {"Link": f'<{request.scope["path"]}?{urlencode(asked)}>; rel="next"'}
