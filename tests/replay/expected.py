"""What must be seen of each case from outside. `Kind` is the outcome in a word; the checks are what it means here.

Beside these, `always.py` holds for every case. Numbers of requests are those of the first turn; the second turn never
meets the same refusal.
"""

from collections.abc import Mapping

from tests.fakes.request_rules import calls_of, messages_of, tool_messages
from tests.replay.asking import (
    asked,
    called_back,
    cap_of,
    changed,
    ended_within,
    every_id_answered,
    first_user_text,
    has_no_system,
    hung_up,
    no_refusal,
    otherwise,
    ran,
    request,
    said_to_model,
    second_turn,
    shortened,
    told_the_model,
    waited,
    with_a_larger_window,
    with_a_smaller_cap,
    with_more_room,
)
from tests.replay.checks import (
    drops,
    either,
    gives_up,
    hides,
    never_tells,
    recovers,
    shown_waiting,
    speaks,
    tells,
    usage,
)
from tests.replay.kinds import (
    STILL_WITH_TOOLS,
    WITHOUT_TOOLS,
    Expected,
    Kind,
    abandoned,
    called,
    changed_form,
    less_history,
    of,
    point,
    prevented,
    retried,
    spoken,
)
from tests.replay.scenarios import LONG_TOOL, SECRET_THOUGHT

EXPECTED: Mapping[str, Expected] = {
    # --- context window
    "F001": less_history(
        drops("What shall we discuss"),
        tells("cut|shorten|window"),
        request(1, "sizes the window", lambda b: b["options"]["num_ctx"] >= 8192),
    ),
    "F003": less_history(or_else=(with_a_larger_window(),)),
    "F004": less_history(or_else=(with_a_smaller_cap(),)),
    "F005": less_history(tells("maximum context length is 16384"), or_else=(with_a_smaller_cap(),)),
    "F006": less_history(),
    "F008": less_history(tells("greater than the context length")),
    # --- transport and time
    "F009": of(Kind.SPOKEN, asked(1), speaks("I agree."), shown_waiting(20), tells("load")),
    "F010": retried(tells("loading"), requests=5),
    "F011": retried(waited(0.2, 30)),
    "F012": retried(hides("that cost I hold")),
    "F013": retried(),
    "F014": retried(),
    "F015": spoken("The motion fails."),
    "F016": retried(waited(0, 5)),
    "F017": retried(waited(30, 250), hung_up()),
    "F018": of(
        Kind.EITHER,
        asked(1, 2),
        either(recovers(), gives_up("said nothing|no answer|did not answer")),
        ended_within(650),
        hung_up(),
    ),
    "F019": of(Kind.PREVENTED, no_refusal(), speaks("I hold that the motion fails."), tells("load")),
    "F020": retried(),
    "F023": abandoned("nosuch:7b.*ollama pull nosuch:7b"),
    "F024": of(Kind.GIVEN_UP, asked(0), gives_up(r"Ollama does not answer at http://127\.0\.0\.1")),
    # --- bodies that are not the API
    "F025": retried(hides("(?i)<html|doctype|Bad gateway</"), tells("502")),
    "F026": abandoned("/v1"),
    "F027": retried(waited(0.2, 30), tells("Too Many Requests")),
    # --- limits
    "F029": retried(waited(7, 15), shown_waiting(3), tells("Rate limit reached")),
    "F030": retried(waited(17, 40), tells("Too many requests")),
    "F031": abandoned(r"90 min|1\.5 h|1 h|hour|5,?400 s|\d\d:\d\d"),
    "F032": abandoned("quota"),
    "F033": changed_form(
        request(1, "sends a cap", lambda body: cap_of(body) is not None),
        request(2, "asks for what can be paid", lambda body: (cap_of(body) or 9999) <= 3395),
        second_turn("sends a cap that can be paid", lambda body: (cap_of(body) or 9999) <= 3395),
    ),
    "F035": abandoned("flagged", never_tells("credential|api.key|OPENAI_API_KEY")),
    "F036": retried(waited(0.2, 30), tells("temporarily rate-limited upstream")),
    # --- capabilities
    "F037": changed_form(*WITHOUT_TOOLS, tells("takes no tools"), never_tells("does not have the model")),
    "F038": changed_form(*WITHOUT_TOOLS, tells("takes no tools"), never_tells("does not have the model")),
    "F039": changed_form(*WITHOUT_TOOLS, tells("--enable-auto-tool-choice")),
    "F041": changed_form(request(2, "sends no think", lambda body: body.get("think") in (None, False))),
    "F042": changed_form(
        request(1, "has max_tokens", lambda body: body.get("max_tokens") == 400),
        request(2, "renames it", lambda body: body.get("max_completion_tokens") == 400 and "max_tokens" not in body),
    ),
    "F043": changed_form(
        request(2, "has no temperature", lambda body: "temperature" not in body), tells("temperature")
    ),
    "F044": prevented(recovers()),
    "F045": of(Kind.CALLED, asked(2, 3), ran(point("a")), recovers(), no_refusal(at_most=1), *STILL_WITH_TOOLS),
    "F046": prevented(ran((LONG_TOOL, {"text": "noted"}), (LONG_TOOL, {"text": "noted"})), recovers(), requests=2),
    "F047": prevented(ran(point("noted"), point("noted")), recovers(), requests=2),
    # --- roles and history
    "F049": prevented(recovers()),
    "F050": prevented(recovers()),
    "F051": prevented(recovers()),
    "F052": changed_form(
        request(2, "has no system message", has_no_system),
        request(2, "keeps the prompt", lambda body: "You are a scientist" in first_user_text(body)),
        second_turn("keeps the prompt", lambda body: "You are a critic" in first_user_text(body)),
    ),
    "F053": prevented(recovers()),
    "F054": prevented(speaks("(argues as before, instruction ignored)")),
    "F055": prevented(recovers()),
    "F057": of(
        Kind.PREVENTED,
        asked(1, 2),
        no_refusal(at_most=1),
        recovers(),
        called_back("once", lambda calls: len(calls) == 1, at=1),
    ),
    "F058": prevented(recovers()),
    "F059": of(Kind.SHORTENED, asked(3), no_refusal(), shortened(at=3), recovers()),
    "F060": prevented(recovers(), called_back("both of them", lambda calls: len(calls) == 2, at=1)),
    "F061": of(Kind.PREVENTED, asked(2, 3), no_refusal(at_most=1), recovers()),
    "F062": of(Kind.PREVENTED, asked(2, 3), no_refusal(at_most=1), recovers()),
    "F063": prevented(recovers()),
    "F064": prevented(recovers()),
    "F065": prevented(speaks("You said that twice.")),
    "F066": of(
        Kind.PREVENTED,
        asked(2, 3),
        no_refusal(at_most=1),
        recovers(),
        second_turn("knows nothing of the thought", lambda body: SECRET_THOUGHT not in said_to_model(body)),
        hides(SECRET_THOUGHT),
    ),
    "F067": prevented(recovers()),
    "F068": prevented(recovers()),
    # --- tool calls
    "F022": retried(*STILL_WITH_TOOLS),
    "F048": retried(*STILL_WITH_TOOLS, never_tells("refused the request")),
    "F069": called(point("one"), point("two"), checks=(every_id_answered(),)),
    "F070": called(
        point("one"),
        point("two"),
        checks=(
            every_id_answered(),
            called_back(
                "with the signature",
                lambda calls: calls[0].get("extra_content") == {"google": {"thought_signature": "c2ln"}},
            ),
        ),
    ),
    "F071": called(point("one")),
    "F073": called(point("one")),
    "F074": called(point("same"), checks=(every_id_answered(),)),
    "F075": called(point("one"), point("two"), checks=(every_id_answered(),)),
    "F076": called(
        point("one"),
        ("score", {"side": "pro"}),
        checks=(
            no_refusal(),
            request(
                2,
                "has both results in order",
                lambda body: [one.get("tool_name") for one in tool_messages(body)] == ["add_point", "score"],
            ),
        ),
    ),
    "F077": called(point("one")),
    "F078": of(Kind.EITHER, asked(2), recovers(), never_tells("is the address right")),
    "F079": called(
        ("concede", {}),
        checks=(called_back("with {}", lambda calls: calls[0]["function"]["arguments"] == "{}"),),
    ),
    "F080": called(point("two"), checks=(every_id_answered(), told_the_model("arguments"))),
    "F081": of(
        Kind.CHANGED,
        asked(2),
        ran(),
        recovers(),
        either(
            with_more_room(),
            request(
                2,
                "asks to be brief",
                lambda body: any(word in said_to_model(body).lower() for word in ("cut off", "brief", "shorter")),
            ),
        ),
    ),
    "F083": called(point("one", rebuttal=False, weight=3)),
    "F084": of(
        Kind.CHANGED,
        asked(4),
        ran(),
        recovers(),
        told_the_model("add_point"),
        request(4, "asks for plain text", lambda body: not body.get("tools")),
    ),
    "F085": of(
        Kind.CALLED,
        asked(2),
        recovers(),
        every_id_answered(),
        either(ran(point("one"), ("score", {"side": "pro"})), ran()),
    ),
    "F086": called(
        point("one"),
        checks=(called_back("by the clean name", lambda calls: calls[0]["function"]["name"] == "add_point"),),
    ),
    "F088": called(point("one"), checks=(hides("tool_call"),)),
    "F089": of(Kind.CALLED, asked(2), recovers(), hides("<func|<param|parameter=")),
    "F090": called(point("one"), checks=(hides("```|arguments"),)),
    "F091": changed_form(otherwise(), ran()),
    "F092": called(
        point("one"),
        checks=(
            request(
                2,
                "keeps the preamble",
                lambda body: any(calls_of(m) and m["content"] == "Let me record this." for m in messages_of(body)),
            ),
        ),
    ),
    "F093": of(
        Kind.EITHER,
        asked(2, 3),
        either(recovers(), gives_up("without a word|empty")),
        request(2, "offers no tools", lambda body: not body.get("tools")),
        ran(),
    ),
    # --- reasoning
    "F087": spoken("Y is the better course."),
    "F094": changed_form(otherwise(), hides("opponent claims")),
    "F095": spoken("B is right."),
    "F096": spoken("ANSWER a < b", then=(hides("secret"),)),
    "F098": spoken("Cost decides this debate."),
    "F100": spoken("I rebut."),
    "F101": changed_form(otherwise(), hides("because of cost")),
    "F102": changed_form(with_more_room()),
    "F103": spoken("Cost is too high."),
    "F104": changed_form(with_more_room(), tells("think|reason")),
    # --- framing and usage
    "F007": less_history(tells("greater than the context length")),
    "F105": spoken("I agree."),
    "F106": retried(tells("Worker local total request limit")),
    "F107": retried(tells("Provider disconnected"), hides("My main point I hold")),
    "F108": retried(tells("engine out of memory")),
    "F109": of(Kind.EITHER, asked(1, 3), either(speaks("Hi"), recovers(), gives_up("protocol|malformed"))),
    "F110": spoken("Hi.", then=(usage(20, 9),)),
    "F112": spoken("AB", then=(usage(20, 2),)),
    "F113": spoken("Hi.", then=(usage(None, 2),)),
    "F114": spoken("Hello"),
    "F115": spoken("использовать 👍"),
    # --- characters
    "F116": spoken("Good 😀 point", "Good 😀 point �"),
    "F117": spoken("Beforeafter", then=(hides("\x00"),)),
    # --- the speech
    "F118": of(
        Kind.SPOKEN,
        asked(1),
        speaks("Moreover, the cost is too high."),
        tells("repe|loop"),
        request(1, "has a cap", lambda body: cap_of(body) is not None),
    ),
    "F119": changed_form(otherwise(), drops("Thank you for your suggestions")),
    "F121": changed_form(
        changed(
            "naming the language",
            lambda before, after: said_to_model(after).count("English") > said_to_model(before).count("English"),
        )
    ),
    "F122": spoken("Cost decides.", then=(hides("fairness"),)),
    "F123": retried(),
    "F124": abandoned("refus.*I can't argue for that position"),
    "F125": of(Kind.EITHER, asked(1, 2), either(recovers(), gives_up("filter")), drops("The attack was")),
}
