import pytest

from debates.citing.check import check
from debates.citing.passages import Passage

PASSAGES = {
    1: Passage(
        1,
        "Land value tax https://en.wikipedia.org/wiki/Land_value_tax",
        "See doi:10.1257/aer.20190159 and arXiv:2301.01234. More at https://uk.wikipedia.org/wiki/Податок",
    )
}

CLAIMS = [
    "According to a 2019 study, rents fell.",
    "According to recent research, rents fell.",
    "According to the World Bank, rents fell by 5%.",
    "According to NASA, the ice melts.",
    "According to the WHO, it kills.",
    "Studies show that rents fell.",
    "Numerous studies have repeatedly shown that rents fall.",
    "- Research shows that rents fell.",
    "The research clearly shows that rents fall.",
    "**Research suggests** that rents fell.",
    "A recent study found that rents fell.",
    "A study published in Nature found that rents fell.",
    "A 2021 meta-analysis puts it at half.",
    "Scientists have proven that it works.",
    "Researchers at MIT found that it works.",
    "Experts agree that it works.",
    "The data show a clear trend.",
    "Research by Piketty (2020) says otherwise.",
    "A report from Oxfam says otherwise.",
    "Smith et al. found the opposite.",
    "Smith (2020) found the opposite.",
    "It is true (Smith & Jones, 2019).",
    "It is scientifically proven that it works.",
    "You ignore that studies show the opposite.",
    "За даними дослідження, ціни впали.",
    "За даними Світового банку ціни впали.",
    "За офіційними даними, ціни впали.",
    "Але за даними ВООЗ, це шкодить.",
    "Згідно з дослідженням, ціни впали.",
    "Згідно з нещодавнім звітом уряду, ціни впали.",
    "Згідно зі статистикою, ціни впали.",
    "Відповідно до даних ООН, ціни впали.",
    "Дослідження показують, що ціни впали.",
    "Численні дослідження підтверджують, що ціни впали.",
    "Вчені довели, що це працює.",
    "Науковці з Києва з’ясували, що це працює.",
    "Як показують дослідження, це працює.",
    "Статистика свідчить про інше.",
    "Експерти вважають інакше.",
    "Науково доведено, що це працює.",
    "По данным исследования, цены упали.",
    "По данным Всемирного банка цены упали.",
    "По последним данным, цены упали.",
    "Согласно исследованию 2019 года, цены упали.",
    "Согласно отчёту ООН, цены упали.",
    "Согласно ВОЗ, это вредно.",
    "Исследования показывают, что цены упали.",
    "Учёные доказали, что это работает.",
    "Ученые давно доказали, что это работает.",
    "Как показывают исследования, это работает.",
    "Статистика показывает иное.",
    "Эксперты считают иначе.",
    "Научно доказано, что это работает.",
]

NO_CLAIMS = [
    "Rents fell by 5% in 2019.",
    "In 1926 Denmark taxed land, and 3 million people paid.",
    "There are three reasons: cost, time and 40% less waste.",
    "I think that taxes are fair.",
    "I study economics.",
    "Show me a study!",
    "No study shows that.",
    "There is no study that would show it.",
    "Which studies show that?",
    "Do studies show that?",
    "What research proves it?",
    "Studies can show anything.",
    "If studies show it, I will believe it.",
    "More research is needed.",
    "We need more research to prove it.",
    "Your studies prove nothing.",
    "This study shows nothing.",
    "These data show nothing new.",
    "Studies don't show that.",
    "My opponent says that studies show it.",
    "You claim that research proves it.",
    'You love the phrase "studies show that it works".',
    "According to you, taxes are theft.",
    "According to my opponent, taxes are theft.",
    "According to your own logic, we should stop.",
    "According to plan, we go on.",
    "According to the law, it is theft.",
    "The report is late.",
    "Experts are human too.",
    "Scientists must prove their claims.",
    "Our data belong to us, and so does our freedom.",
    "The Olympics (2020) were held in Tokyo.",
    "It was held there (Paris, 2015).",
    "Everyone who has eyes can find out.",
    "Version 10.5/2 is out.",
    "Ціни впали на 5% у 2019 році.",
    "Жодне дослідження не показує цього.",
    "Дослідження не показують цього.",
    "Які дослідження це показують?",
    "Де дослідження, що це доводять?",
    "Наведіть дослідження!",
    "Ваші дослідження нічого не доводять.",
    "Це дослідження показує інше.",
    "Опонент каже, що дослідження показують інше.",
    "Ви кажете, що вчені довели це.",
    "Згідно з моєю позицією, це хибно.",
    "Згідно з законом, це крадіжка.",
    "Відповідно до вашої логіки, треба зупинитися.",
    "За вашими даними, ціни впали.",
    "Корпорації стежать за даними людей.",
    "Вчені можуть помилятися, але шукають.",
    "Якщо дослідження покажуть це, я повірю.",
    "Цены упали на 5% в 2019 году.",
    "Ни одно исследование не показало этого.",
    "Исследования не показывают этого.",
    "Какие исследования это показывают?",
    "Ваши исследования ничего не доказывают.",
    "Это исследование показывает иное.",
    "Оппонент говорит, что исследования показывают иное.",
    "Согласно вашей логике, надо остановиться.",
    "Согласно закону, это кража.",
    "По вашим данным, цены упали.",
    "Торговля данными людей растёт.",
    "Учёные могут ошибаться.",
    "Если исследования покажут это, я поверю.",
]


def unsourced(content: str) -> list[str]:
    return [mark.text for mark in check(content, PASSAGES) if (mark.code, mark.verdict) == ("", "unsourced")]


@pytest.mark.parametrize("content", CLAIMS)
def test_a_source_that_nobody_looked_up_is_marked(content: str) -> None:
    assert unsourced(f"It is so. {content}" if content[0] not in "-*" else content) == [content.lstrip("-* ")]


@pytest.mark.parametrize("content", NO_CLAIMS)
def test_what_claims_no_source_is_not_marked(content: str) -> None:
    assert check(content, PASSAGES) == []


@pytest.mark.parametrize("content", CLAIMS)
def test_a_claim_with_a_citation_is_not_marked(content: str) -> None:
    assert unsourced(f"{content} [S1] It is so.") == []


@pytest.mark.parametrize(
    ("content", "link"),
    [
        ("See https://example.com/study.", "https://example.com/study"),
        ("See [this](https://example.com/a?b=c).", "https://example.com/a?b=c"),
        ("See www.example.org/a, please.", "www.example.org/a"),
        ("See doi:10.1000/182.", "doi:10.1000/182"),
        ("See 10.1000/182, please.", "10.1000/182"),
        ("See arXiv:2305.19118v2 on it.", "arXiv:2305.19118"),
        ("Дивіться https://example.com/а!", "https://example.com/а"),
    ],
)
def test_an_address_that_no_source_gave_is_marked(content: str, link: str) -> None:
    assert unsourced(content) == [link]


@pytest.mark.parametrize(
    "content",
    [
        "See https://en.wikipedia.org/wiki/Land_value_tax.",
        "See http://www.en.wikipedia.org/wiki/Land_value_tax/",
        "See https://uk.wikipedia.org/wiki/%D0%9F%D0%BE%D0%B4%D0%B0%D1%82%D0%BE%D0%BA!",
        "See https://doi.org/10.1257/aer.20190159 [S1].",
        "See 10.1257/AER.20190159.",
        "See arXiv:2301.01234v1 and arXiv 2301.01234.",
        "According to a 2019 study (https://en.wikipedia.org/wiki/Land_value_tax), rents fell.",
        "See https://example.com/study [S1].",
        "```\ncurl https://example.com/\n```",
        "Use `https://example.com/` there.",
    ],
)
def test_an_address_that_a_source_gave_is_not_marked(content: str) -> None:
    assert unsourced(content) == []


@pytest.mark.parametrize(
    "content",
    [
        "Denmark taxed land [S1]. The study found that rents fell.",
        "Данія оподаткувала землю [S1]. Дослідження показало, що ціни впали.",
        "Дания обложила землю [S1]. Исследование доказало, что цены упали.",
    ],
)
def test_the_study_just_cited_needs_no_second_citation(content: str) -> None:
    assert unsourced(content) == []


def test_another_study_than_the_one_cited_is_marked() -> None:
    assert unsourced("Denmark taxed land [S1]. Other studies show that rents rose.") == [
        "Other studies show that rents rose."
    ]


def test_a_long_claim_is_cut() -> None:
    (claim,) = unsourced(f"Studies show {'that rents fell ' * 30}.")
    assert len(claim) == 200


def test_without_any_source_a_claim_is_marked_too() -> None:
    assert [mark.verdict for mark in check("Studies show it.", {})] == ["unsourced"]
