"""Serves the list and the pages of problem types as Markdown or HTML, in the reader's language."""

import asyncio
from functools import cache

from litestar import get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from api.docs.call_ids import read_calls
from api.docs.markdown import to_html
from api.docs.pages import policy_of_kind, render_text
from api.docs.problem_list import code_of, page_markdown, problems_markdown
from api.http.headers import prefers
from api.http.replies import Fixed, Reply
from api.http.routes import controller_of
from api.runtime.call import ApiCall
from referee.sentences import Language

MARKDOWN, HTML = "text/markdown", "text/html"


def problem_policy() -> str:
    return policy_of_kind("text")


def _page(code: str | None, language: Language, media_type: str) -> bytes:
    """Return the page of a problem type; ``None``: the list of types."""
    markdown = problems_markdown(language, served=True) if code is None else page_markdown(code, language)
    if media_type == MARKDOWN:
        return markdown.encode()
    title = markdown.partition("\n")[0].removeprefix("# ")
    return render_text(language, title, to_html(markdown))


@cache
def _fixed_page(code: str | None, language: Language, media_type: str) -> Fixed:
    headers = {"Content-Language": language, "Vary": "Accept, Accept-Language"}
    if media_type == HTML:
        headers["Content-Security-Policy"] = problem_policy()
    return Fixed(_page(code, language, media_type), media_type=media_type, headers=headers)


async def _negotiated_page(request: ApiCall, code: str | None) -> Reply:
    language, accept = request.language, request.accepted
    media_type = HTML if prefers(accept, HTML, MARKDOWN) else MARKDOWN
    read_calls(request.app)
    # A thread is used, because the first request builds the page.
    return (await asyncio.to_thread(_fixed_page, code, language, media_type)).reply(request)


@get(["/problems", "/docs/problems.md"], include_in_schema=False)
async def list_problems(request: ApiCall) -> Reply:
    return await _negotiated_page(request, None)


@get("/problems/{name:str}", include_in_schema=False)
async def get_problem(request: ApiCall, name: FromPath[str]) -> Reply:
    code = code_of(name)
    if code is None:
        raise NotFoundException
    return await _negotiated_page(request, code)


CALLS = controller_of("/", [list_problems, get_problem])
