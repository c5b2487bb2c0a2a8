from decimal import Decimal

import pytest

from debates.forecast import Estimate, Side, longest_prompt, running
from providers.prices import Price

PRICE = Price(Decimal("0.01"), Decimal("0.1"), Decimal(1))


def side(frame: int = 100, reply: int = 10, remembers: int = 8, requests: int = 1, price: Price | None = PRICE) -> Side:
    return Side(frame, reply, remembers, requests, price)


def total(a: Side, b: Side, rounds: int) -> Estimate:
    *_, last = running(a, b, rounds)
    return last


def test_each_turn_is_shown_what_was_said_before() -> None:
    prompts = [100, 100 + 10, 100 + 20, 100 + 30]
    assert total(side(), side(), 2) == Estimate(2, sum(prompts), 4 * 10, Decimal("0.01") * 460 + 4 + 4)


def test_no_more_is_shown_than_is_remembered() -> None:
    short = side(remembers=1)
    assert total(short, short, 3).prompt_tokens == 100 + 5 * 110


def test_the_opponents_words_are_shown_first() -> None:
    brief, verbose = side(reply=1, remembers=3), side(reply=50, remembers=3)
    assert brief.prompt(9, verbose) == 100 + 2 * 50 + 1
    assert verbose.prompt(9, brief) == 100 + 2 * 1 + 50


def test_the_longest_request_has_a_full_memory_where_the_debate_is_long_enough() -> None:
    assert longest_prompt(side(), side(), 100) == 100 + 8 * 10
    assert longest_prompt(side(), side(), 1) == 100 + 10


def test_a_turn_of_two_requests_reads_twice_and_speaks_once() -> None:
    looks_up = total(side(requests=2), side(requests=2), 1)
    assert (looks_up.prompt_tokens, looks_up.completion_tokens) == (2 * (100 + 110), 20)
    assert looks_up.cost == 2 * (Decimal("0.01") * 210 + 2) + 2


@pytest.mark.parametrize("unknown", [0, 1])
def test_the_whole_costs_nobody_knows_what_when_one_price_is_unknown(unknown: int) -> None:
    prices = [PRICE, PRICE, None]
    a, b = side(price=prices[2 if unknown == 0 else 0]), side(price=prices[2 if unknown == 1 else 0])
    assert total(a, b, 3).cost is None
    assert total(a, b, 3).tokens > 0


def test_what_is_free_costs_nothing() -> None:
    free = side(price=Price(Decimal(0), Decimal(0)))
    assert total(free, free, 3).cost == 0


def test_the_running_total_names_its_round() -> None:
    assert [used.rounds for used in running(side(), side(), 3)] == [1, 1, 2, 2, 3, 3]
