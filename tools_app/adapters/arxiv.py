"""arXiv: the abstracts of research papers, found by words or by number."""

from collections.abc import Mapping
from typing import Any

import requests
from django.conf import settings

from tools_app.adapters import arxiv_feed, arxiv_query
from tools_app.adapters.arxiv_feed import Feed
from tools_app.adapters.http import Service, ask, failure_of, retry_after_s, user_agent
from tools_app.adapters.queries import LONGEST_SENT
from tools_app.base import Call, FailureKind, Found, Nothing, Tool, ToolFailure
from tools_app.limits import Spacing, try_again

EVERY_S = 3
MOST_PAPERS = 5

# The terms of use: one request in three seconds and one connection, for all machines together.
SERVICE = Service("arXiv", (Spacing("arxiv", EVERY_S, at_once=1),))
# In three languages, mostly beginnings of words.
_KEYWORDS = frozenset(
    {
        *(
            "ai",
            "algorithm",
            "arxiv",
            "astronom",
            "astrophys",
            "cosmolog",
            "cryptograph",
            "experiment",
            "genetic",
            "llm",
        ),
        *("mathemat", "model", "neural", "neuro", "paper", "papers", "physic", "quantum", "research", "robot"),
        *("science", "scientific", "scientist", "simulation", "statistic", "studies", "study", "technolog", "theory"),
        *("ші", "алгоритм", "астроном", "вчені", "генетик", "дослідж", "експеримент", "квант", "косміч", "космос"),
        *("математ", "модел", "модель", "наука", "науки", "науков", "нейрон", "робот", "статист", "теорія", "технолог"),
        *("фізик", "штучн"),
        *("ии", "генетич", "исследов", "искусств", "квантов", "космич", "научн", "нейрос", "теория", "технологи"),
        *("учены", "учёны", "физик", "физич", "эксперимент"),
    }
)


def _run(arguments: Mapping[str, Any], call: Call) -> Found | Nothing:
    query = arguments["query"]
    if ids := arxiv_query.ids_in(query):
        papers = _feed({"id_list": ",".join(ids)}, call).papers
        return Found(papers) if papers else Nothing(f"arXiv has no paper with the number {', '.join(ids)}.")
    searches = list(arxiv_query.searches(query))
    if not searches:
        raise ToolFailure(FailureKind.BAD_QUERY, "The query names nothing. Give 2-6 key words that name the subject.")
    notes = ("", "No paper has all of these words; these have some of them.")
    for search, note in zip(searches, notes, strict=False):
        if papers := _feed({"search_query": search, "sortBy": "relevance", "sortOrder": "descending"}, call).papers:
            return Found(papers, note)
    return Nothing("Nearly all papers are in English: try fewer or other English key words.")


def _feed(parameters: Mapping[str, str], call: Call) -> Feed:
    """At times arXiv sends an empty feed where there are papers. Then it is asked once more, as the limit allows."""
    feed = _asked(parameters, call)
    if feed.total and not feed.papers and call.left_s() > EVERY_S:
        feed = _asked(parameters, call)
    if feed.total and not feed.papers:
        sentence = f"arXiv sent an empty page where it has papers. {try_again(EVERY_S)}"
        raise ToolFailure(FailureKind.UPSTREAM, sentence, retry_after_s=EVERY_S)
    return feed


def _asked(parameters: Mapping[str, str], call: Call) -> Feed:
    page = {"start": "0", "max_results": str(MOST_PAPERS), **parameters}
    response = ask(SERVICE, settings.ARXIV_API_URL, call, params=page, headers={"User-Agent": user_agent()})
    if response.status_code in (429, 503) or response.content.strip().startswith(b"Rate exceeded"):
        wait_s = retry_after_s(response)
        sentence = f"arXiv takes no further request for now. {try_again(wait_s)}"
        raise ToolFailure(FailureKind.RATE, sentence, retry_after_s=wait_s)
    if response.status_code == 200 and not response.content.strip():
        return Feed(total=1, papers=())
    return _read(response)


def _read(response: requests.Response) -> Feed:
    try:
        feed = arxiv_feed.parse(response.content)
    except ValueError:
        feed = None
    if response.status_code == 400:
        raise ToolFailure(FailureKind.BAD_QUERY, "arXiv does not take this query. Use plain key words only.")
    if feed is None or response.status_code != 200:
        raise failure_of(SERVICE, response)
    return feed


TOOL = Tool(
    name="arxiv",
    label="arXiv",
    description=(
        "Find research papers on arXiv (physics, mathematics, computing, statistics, economics, quantitative biology,"
        " finance) and read their abstracts. Use it for claims about what research has shown. The query is 2-6 English"
        " key words that name the subject, such as “carbon tax emissions”, or the number of a paper, such as"
        " “1706.03762”. It is not a sentence."
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "maxLength": LONGEST_SENT,
                "description": "2-6 English key words, or the number of a paper.",
            },
        },
        "required": ["query"],
    },
    run=_run,
    cache_s=86_400,
    keywords=_KEYWORDS,
)
