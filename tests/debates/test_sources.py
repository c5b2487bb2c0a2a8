import pytest
from django.contrib.auth.models import User

from debates.sources import checked
from tests.debates.book_rows import add_source
from tests.debates.page_rows import make_debate


@pytest.mark.django_db
def test_the_title_the_address_and_the_date_of_a_source_may_be_cited(alice: User) -> None:
    debate = make_debate(alice, tools=["wikipedia"])
    add_source(debate, 1, title="Zoo of 1874", url="https://example.org/zoo", published="May 2026")
    marks = checked(debate, "In 1874, 2026 and 1927 it was so [S1]. See https://example.org/zoo.")
    assert [(mark["code"], mark["verdict"], mark["text"]) for mark in marks] == [
        ("S1", "number_found", "1874"),
        ("S1", "number_found", "2026"),
        ("S1", "number_not_found", "1927"),
    ]
