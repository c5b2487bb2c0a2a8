"""Claims of sources that nobody looked up: "studies show", «за даними Світового банку», "Smith (2020) found".

What is denied, wished for, asked, or said to be somebody else's claim is none. Languages: English, Ukrainian, Russian.
"""

import re


def _any(*words: str) -> str:
    """Of patterns that hold no space."""
    return f"(?:{'|'.join(' '.join(words).split())})"


_STUDY = r"(?:an?|one|another|the|recent|new) (?:[\w-]+ ){0,2}?study"
_STUDIES = _any(
    "studies research reports surveys polls statistics data meta-analys[ei]s researchers scientists experts economists",
    "doctors",
    r"дослідженн\w+ вчені учені науковці експерти економісти статистика опитування дані",
    "исследовани[еяй] уч[её]ные эксперты экономисты опросы? данные",
)
_THEY = f"(?:{_STUDY}|{_STUDIES})"
_SHOW = _any(
    "shows? showed shown finds? found prove[ds]? proven suggest(?:s|ed)? indicate[ds]? confirm(?:s|ed)? agree say",
    "conclude[ds]? demonstrate[ds]? reveal(?:s|ed)? estimate[ds]?",
    "показ(?:у(?:є|ють)|ал[аио]?|ав|ыва[ею]т) свідч(?:ить|ать) дов(?:одить|одять|ело|ели)",
    "підтверд(?:ил[аио]|жу(?:є|ють)) в[иы]явил[аио] встановил[аио] з'ясувал[аио]",
    "стверджу(?:є|ють) вважа(?:є|ють) каж(?:е|уть) погоджуються",
    "доказ(?:ал[аио]?|ыва[ею]т) подтвер(?:дил[аио]|жда[ею]т) установил[аио] выяснил[аио] утвержда[ею]т счита[ею]т",
    "свидетельству[ею]т говор[ия]ть? согласны",
)
_ISSUERS = _any(
    "study papers? figures bank institute university agency ministry organi[sz]ation bureau commission",
    r"дослідж\w+ дан(?:им|ими|их|ым) звіт\w* опитуван\w+ статистик\w+ доповід\w+ експерт\w+ вчених",
    r"исследован\w+ отч[её]т\w* доклад\w* опрос\w* эксперт\w+ уч[её]ных",
    r"банк\w* [іи]нститут\w* ун[іи]верситет\w* м[іи]н[іи]стерств\w* агентств\w*",
)
_ACCORDING = r"(?:according to|as reported by|згідно [зі]+|відповідно до|согласно|(?:за|по) (?:результат|оц[іе]нк)\w+)"
_AND = r"(?:(?:а|але|і|й|та|що|бо|адже|и|но|что|ведь) )?"
_NAME = r"(?-i:[A-Z])\w++"
_YEAR = r"(?:19|20)\d\d"
_CLAIM = re.compile(
    rf"\b{_THEY}(?: [\w,'-]++){{0,6}}? (?<! to ){_SHOW}\b"
    rf"|\b(?:як|как) {_SHOW} (?:[\w'-]++ ){{0,2}}?{_THEY}\b"
    rf"|\b{_ACCORDING}(?: [\w'-]++){{0,5}}? (?:{_THEY}|{_ISSUERS}|(?-i:[A-ZА-ЯІЇЄҐ]{{3,}}))\b"
    # "за даними" alone may be any data; not so where it opens a clause or a name follows
    rf"|(?:^|[^\w\s])\s*{_AND}(?:за (?:\w++ )?даними|по (?:\w++ )?данным)\b"
    r"|\b(?:за даними|по данным) (?-i:[А-ЯІЇЄҐA-Z])"
    rf"|\b{_YEAR} (?:[\w-]++ ){{0,2}}?(?:study|report|survey|paper|poll|review|meta-analysis|experiment)\b"
    r"|\b(?:study|research|report|survey|paper) (?:by|from|at) (?:the )?(?-i:[A-Z])\w"
    rf"|\bet al\b|\b{_NAME} (?:and|&) {_NAME},? \(?{_YEAR}\)|\b{_NAME} \({_YEAR}\),? {_SHOW}\b"
    r"|\b(?:науково доведено|научно доказано|scientifically proven)\b",
    re.I,
)
_NOT_CLAIMED = re.compile(
    r"\b(?:"
    + _any(
        "no not never without which what any can could may might must should would will cannot if unless until",
        r"whether \w+n't (?-i:who) this these those your their its such",
        r"не ні жод\w+ н[иі]як\w+ які яке якщо якби може можуть ма[єю]ть? повинні мусять",
        r"ц(?:е|і|ей|ього|ієї|их|им|ими) ни никак\w+ как(?:ие|ое) если может могут должн\w+ эт(?:о|и|от|ого|их|им)",
        r"ваш\w* тво(?:ї|є|и|ё|е)\w* без чи ли би? бы",
    )
    + r")\b",
    re.I,
)
_SOMEBODY = r"(?:opponent(?:'s)?|you(?:'ve)?|ви|ти|вы|опонент\w*|оппонент\w*)"
_SAYS = _any(
    r"sa(?:y|ys|id) claim\w* argue\w* wr[io]te\w* call\w* told insist\w*",
    r"каж\w+ сказа\w+ стверджу\w+ пиш\w+ назива\w+ говор\w+ утвержда\w+ называ\w+",
)
_SOMEBODYS = r"(?:opponent's|your|ваш\w*|тво\w+)"
_WORDS = _any("claim words? argument phrase слов твердж утвержд фраз аргумент")
_THEIRS = re.compile(rf"\b{_SOMEBODY}(?: \w+){{0,2}}? {_SAYS}\b|\b{_SOMEBODYS} (?:own )?{_WORDS}", re.I)


def are_theirs(before: str) -> bool:
    """Whether the words that follow are somebody else's and not a source's: "You said that ..."."""
    return bool(_THEIRS.search(before))


def claims_a_source(sentence: str, has_cited: bool) -> bool:
    """`has_cited`: that the message cited a source before, which "the study" may be."""
    line = sentence.replace("’", "'").rstrip(" \n\"'»”)*_")
    return not line.endswith("?") and any(not _disclaimed(line, claim, has_cited) for claim in _CLAIM.finditer(line))


def _disclaimed(line: str, claim: re.Match[str], has_cited: bool) -> bool:
    before = line[max(0, claim.start() - 80) : claim.start()]
    near = " ".join(before.rpartition(",")[2].split()[-3:]) + " "
    refers_back = has_cited and (re.search(r"\bthe\b", near + claim[0][:4], re.I) or claim[0].endswith("ло"))
    return bool(refers_back or _NOT_CLAIMED.search(near + claim[0]) or are_theirs(before))
