import re, sys
from django.urls import reverse
from debates import live
from debates.live import Notice
from debates.models import Conversation
from tests.debates.page_rows import add_message, make_debate
from tests.debates.book_rows import *

OUT = "/tmp/shots"

def _fill(alice, status="RUNNING"):
    debate = make_debate(alice, topic="Should modern zoos be closed, and their animals moved to sanctuaries?", status=status, total_rounds=2, tools=["wikipedia", "arxiv", "send_email"])
    add_source(debate, 1, title="Zoo", passage="A zoo is a facility in which animals are housed within enclosures for public exhibition and often bred for conservation purposes.\n\nMore than 700 million people visit zoos each year.")
    add_source(debate, 2, tool="arxiv", title="Stereotypic behaviour in captive carnivores: a meta-analysis of enclosure size", url="https://arxiv.org/abs/1234.5678", published="2021-04-02", passage="We find that " + "wide-ranging carnivores show more stereotypic pacing. " * 12)
    add_source(debate, 3, tool="newsapi", title="Зоопарк у Києві відкрив новий вольєр", url="", passage="Короткий уривок.")
    add_message(debate, 1, content="Zoos are **not** prisons. “More than 700 million people visit zoos each year” [S1], and 61% of breeding programmes work [S2].\n\nAs [S9] shows, no sanctuary can do so.", citations=[mark("S1","exists","","Zoo","https://en.wikipedia.org/wiki/Zoo"), mark("S1","quotation_found","More than 700 million people visit zoos each year","Zoo","https://en.wikipedia.org/wiki/Zoo"), mark("S2","exists","","Stereotypic behaviour in captive carnivores: a meta-analysis of enclosure size","https://arxiv.org/abs/1234.5678"), mark("S2","number_not_found","61%","Stereotypic behaviour in captive carnivores: a meta-analysis of enclosure size","https://arxiv.org/abs/1234.5678"), mark("S9","no_such_source"), mark("","unsourced","9 of 10 keepers agree that animals are happier")])
    add_message(debate, 2, content="You quote visitors, not animals. Wide-ranging carnivores pace [S2, S3].", citations=[mark("S2","quotation_near","wide ranging carnivores pace more","Stereotypic behaviour in captive carnivores: a meta-analysis of enclosure size","https://arxiv.org/abs/1234.5678"), mark("S3","exists","","Зоопарк у Києві відкрив новий вольєр","")])
    add_message(debate, 3); add_message(debate, 4)
    add_call(debate, summary="3 results: Zoo; Zoological park; Aquarium", arguments={"query": "zoo visitors per year", "language": "en"})
    add_call(debate, actor="AGENT_B", tool="arxiv", arguments={"query": "stereotypic pacing carnivores"}, ms=2310, summary="1 result: Stereotypic behaviour in captive carnivores")
    add_call(debate, actor="AGENT_B", tool="newsapi", outcome="NOTHING", summary="Nothing found", arguments={"query": "zoo closures 2026"}, ms=900)
    add_call(debate, tool="tavily", outcome="FAILED", failure="quota", summary="Tavily says the monthly allowance is used up. It is renewed on the first of the month.", arguments={"query": "sanctuary costs"}, ms=300, step=2, origin="BRIEFING")
    add_note(debate, "Bo has no answer on breeding programmes; come back to it.")
    add_note(debate, "Ask for numbers.", "AGENT_B")
    return debate

SIZES = {"wide": (1500, 950), "mid": (1100, 800), "narrow": (400, 850)}

def test_live(page, alice, site):
    debate = _fill(alice)
    turn = {"round": 3, "sender": "AGENT_A"}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, (w, h) in SIZES.items():
            page.set_viewport_size({"width": w, "height": h})
            with page.expect_response(re.compile("/live/")):
                page.goto(reverse("debates:detail", args=[debate.pk]))
            page.wait_for_selector(".sources", state="attached")
            live.publish(debate.pk, Notice("turn", {**turn, "model": "qwen3:8b", "waiting_s": 0, "thinking": False}))
            tool = {"ms": None, "summary": ""}
            for t, a, p, ms, s in [("wikipedia", 'query: "zoo breeding success"', "called", None, ""), ("arxiv", 'query: "reintroduction survival rates"', "called", None, ""), ("newsapi", 'query: "zoo"', "called", None, ""),("newsapi", 'query: "zoo"', "failed", 1200, "NewsAPI takes no more requests today."), ("wikipedia", 'query: "zoo breeding success"', "returned", 420, "3 results: Breeding in captivity; Zoo; Conservation")]:
                live.publish(debate.pk, Notice("tool", {**turn, "tool": t, "arguments": a, "phase": p, "ms": ms, "summary": s}))
            page.wait_for_selector("#speaking .calls li:nth-child(2)")
            page.wait_for_timeout(600)
            page.screenshot(path=f"{OUT}/live-{name}-{scheme}.png")
            if name != "wide":
                page.locator("#books summary").first.click()
                page.evaluate("scrollTo(0,0)")
            page.wait_for_timeout(300)
            page.screenshot(path=f"{OUT}/top-{name}-{scheme}.png", full_page=name != "wide")

def test_wait(page, alice, site):
    debate = _fill(alice, "WAITING")
    add_approval(debate, preview="E-mail from agent-chat@example.org\nTo: ministry@example.org\nSubject: Zoos\n\nDear minister,\nclose them all.\u202e txt.exe", arguments={"to": "ministry@example.org", "subject": "Zoos", "body": "Dear minister,\nclose them all."})
    add_approval(debate, tool="save_note", permission="WRITE", preview="Writes into Ada's notebook:\nBo contradicts himself on breeding.", arguments={"text": "Bo contradicts himself on breeding."})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, (w, h) in SIZES.items():
            page.set_viewport_size({"width": w, "height": h})
            page.goto(reverse("debates:detail", args=[debate.pk]))
            page.wait_for_timeout(600)
            page.screenshot(path=f"{OUT}/wait-{name}-{scheme}.png")

def test_cite(page, alice, site):
    debate = _fill(alice)
    page.set_viewport_size({"width": 1500, "height": 950})
    page.goto(reverse("debates:detail", args=[debate.pk]))
    page.wait_for_selector(".sources", state="attached")
    page.locator("#m-2 .words a.cite").first.click()
    page.wait_for_timeout(400)
    page.screenshot(path=f"{OUT}/cite-wide.png")
    page.goto(reverse("debates:books", args=[debate.pk]))
    page.screenshot(path=f"{OUT}/books-page.png")

def test_form(page, alice, site, scripted):
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, (w, h) in SIZES.items():
            page.set_viewport_size({"width": w, "height": h})
            page.goto(reverse("debates:new"))
            page.locator("#tools").scroll_into_view_if_needed()
            page.locator("#tools").screenshot(path=f"{OUT}/form-{name}-{scheme}.png")
    page.set_viewport_size({"width": 1100, "height": 800})
    page.screenshot(path=f"{OUT}/form-full.png", full_page=True)
