"""The report on a run as one file."""

import base64
import re
from collections.abc import Sequence
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone import Run
from ragstone.core.errors import InputError, UnknownName
from ragstone.data import cornwall as demo_data
from ragstone.web.html_report import LARGEST, ROOMS, report_file
from ragstone.web.parts.answers import anchor_of
from tests.web.conftest import client_of

EVIL = '</style></script><script>alert(1)</script><img src=x onerror="alert(1)"> \u202egnp \x1b[31m'
LOADS = {"src", "srcset", "action", "formaction", "data", "poster", "background", "style"}


class Parsed(HTMLParser):
    """The tags of a file with their attributes, and what stands in style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.inside: dict[str, str] = {}
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._in = tag

    def handle_endtag(self, _: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        self.inside[self._in] = self.inside.get(self._in, "") + data

    @property
    def ids(self) -> list[str]:
        return [of["id"] for _, of in self.tags if "id" in of]

    @property
    def policy(self) -> str:
        return next(of["content"] for _, of in self.tags if "http-equiv" in of)


Record = dict[str, object]


def record(at: int, *, system: str = "a", text: str = "The pier is 90 metres long.") -> Record:
    return {
        "id": f"e{at}-{system}",
        "question_id": f"q{at}",
        "system": system,
        "question": f"How long is pier {at}?",
        "contexts": [{"id": "c1", "text": text}, {"id": "c2", "text": text}],
        "answer": text if at % 2 else "It is red.",
        "reference": "90 metres",
    }


def made(tmp_path: Path, records: Sequence[Record]) -> Run:
    metrics = ["exact_match", "token_f1", "rouge_2"]
    return ragstone.evaluate(records, metrics=metrics, out=tmp_path / "run")


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.fixture(scope="module")
def cornwall_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ragstone.evaluate(demo_data(), out=tmp_path_factory.mktemp("report") / "cornwall")


@pytest.fixture(scope="module")
def cornwall(cornwall_run: Run) -> str:
    return report_file(cornwall_run)[0]


def test_it_loads_nothing_and_leads_nowhere_but_into_itself(cornwall: str) -> None:
    found = Parsed(cornwall)
    assert not [(tag, of) for tag, of in found.tags if LOADS & of.keys()]
    assert not [tag for tag, _ in found.tags if tag in ("link", "img", "iframe", "object", "base")]
    links = [of["href"] for _, of in found.tags if "href" in of]
    assert links
    assert all(link.startswith("#") for link in links)
    urls = re.findall(r"url\(([^)]{0,20})", cornwall)
    assert len(urls) == 2
    assert all(url.startswith("data:font/woff2") for url in urls)
    assert "@import" not in cornwall


def test_its_policy_allows_its_own_style_and_script_and_nothing_else(cornwall: str) -> None:
    found = Parsed(cornwall)
    rules = dict(rule.split(" ", 1) for rule in found.policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == hash_of(found.inside["style"])
    assert rules["script-src"] == hash_of(found.inside["script"])
    assert [tag for tag, _ in found.tags].count("script") == 1


def test_every_link_in_it_has_an_end_and_no_id_stands_twice(cornwall: str) -> None:
    found = Parsed(cornwall)
    ids = found.ids
    assert len(ids) == len(set(ids))
    links = {of["href"][1:].partition("?")[0] for _, of in found.tags if "href" in of}
    assert links <= set(ids)


def test_the_worst_answers_have_their_claims_marked_and_those_without_support_listed(
    cornwall: str,
) -> None:
    found = Parsed(cornwall)
    looks = [of["class"] for _, of in found.tags if "class" in of]
    assert "cl absent" in looks
    assert "cl supported" in looks
    assert "claims without support" in cornwall
    assert "left out" in cornwall


def test_an_example_has_the_same_link_in_every_report(cornwall: str) -> None:
    for one in ragstone.read(demo_data()):
        assert f'id="a-{anchor_of(one.id)}"' in cornwall


def test_it_has_the_estimates_the_comparison_and_where_it_goes_wrong(cornwall: str) -> None:
    assert {"estimates", "comparison", "faults", "worst", "answers", "method"} <= set(
        Parsed(cornwall).ids
    )
    assert "0.865" in cornwall
    assert 'class="forest"' in cornwall
    assert 'class="ladder"' in cornwall
    assert "unsupported" in cornwall
    assert "signature" in cornwall


def test_a_stage_and_a_metric_lead_to_the_table_that_shows_them(cornwall: str) -> None:
    links = [of["href"] for _, of in Parsed(cornwall).tags if "href" in of]
    assert "#answers?sort=faithfulness" in links
    assert any(re.fullmatch(r"#answers\?system=\w+&stage=\w+", link) for link in links)


def test_slices_have_means_with_their_intervals(tmp_path: Path) -> None:
    records = [{**record(at), "topic": "sea" if at % 2 else "land"} for at in range(6)]
    run = ragstone.evaluate(records, metrics=["exact_match"], by=["topic"], out=tmp_path / "run")
    text = report_file(run)[0]
    # None of three is exact: Wilson's interval has its upper end at z²/(3 + z²), z = 1.96.
    assert '<b>0.000</b> <span class="ci">0.000 – 0.561</span>' in text


def test_a_system_compared_with_itself_is_pale_in_slices(tmp_path: Path) -> None:
    reference = "The pier is 90 metres long, from the wall to the light."
    answers = {"gold": reference, "bot": "It is red."}
    records = [
        {**record(at, system=system), "topic": "sea", "answer": answer, "reference": reference}
        for at in range(8)
        for system, answer in answers.items()
    ]
    run = ragstone.evaluate(records, metrics=["exact_match"], by=["topic"], out=tmp_path / "run")
    slices = report_file(run)[0].split('class="slices"')[1].split("</table>")[0]
    (pale,) = re.findall(r'<tr class="[^"]*void">.*?</tr>', slices)
    assert "gold" in pale
    assert "self" in pale


def test_whole_conversations_have_their_figures(tmp_path: Path) -> None:
    rows = [record(at) | {"session_id": f"s{at // 2}", "question": f"How {at}?"} for at in range(4)]
    run = ragstone.evaluate(rows, metrics=["faithfulness"], out=tmp_path / "run")
    html = report_file(run)[0]
    assert "2 conversations of 2 turns." in html
    assert '<a href="#conversations">Conversations</a>' in html
    assert "worst turn" in html


def test_two_runs_are_compared_the_second_being_the_baseline(tmp_path: Path) -> None:
    runs = []
    for name, answer in (("new", "90 metres"), ("old", "It is red.")):
        records = [{**record(at), "answer": answer} for at in range(30)]
        runs.append(
            ragstone.evaluate(records, metrics=["exact_match", "token_f1"], out=tmp_path / name)
        )
    text = report_file(runs[0], runs[1])[0]
    assert "<bdi>new against old</bdi>" in text
    assert "better</b> than old" in text
    assert "The answers are those of new." in text
    (file,) = [ragstone.write_report(tmp_path / "new", tmp_path / "r.html", tmp_path / "old")]
    assert file.path.read_text("utf-8") == text


def test_a_margin_and_a_baseline_go_into_the_comparison(cornwall_run: Run) -> None:
    text = report_file(cornwall_run, baseline="basic_search", margin=0.05)[0]
    assert "±0.05 do not matter" in text
    against = re.findall(r"against</span> <bdi>([^<]*)</bdi></h3>", text)
    assert set(against) == {"basic_search"}


def test_a_margin_that_is_no_number_is_refused(cornwall_run: Run) -> None:
    with pytest.raises(InputError, match="A margin is a number above 0"):
        report_file(cornwall_run, margin=float("nan"))


def test_a_baseline_that_is_not_there_is_refused(cornwall_run: Run) -> None:
    with pytest.raises(UnknownName, match="nobody"):
        report_file(cornwall_run, baseline="nobody")


def test_twelve_systems_with_forty_metrics_stay_below_the_limit(tmp_path: Path) -> None:
    name = "retriever=hybrid(bm25+dense,alpha=0.35)/reranker=minilm/chunk=512/seed={}"
    records = [record(at, system=name.format(s)) for at in range(2) for s in range(12)]
    metrics = [f"precision(k={k})" for k in range(1, 21)] + [f"ndcg(k={k})" for k in range(1, 21)]
    run = ragstone.evaluate(records, metrics=metrics, judge="local", out=tmp_path / "run")
    html, _, left_out = report_file(run)
    assert len(html.encode()) <= LARGEST
    assert "5 of 66 pairs of systems are compared." in left_out
    assert html.count("precision(k=20)") >= 1


def test_hostile_text_is_text(tmp_path: Path) -> None:
    evil: Record = {
        "question_id": EVIL, "question": EVIL, "answer": EVIL, "reference": EVIL,
        "contexts": [{"id": EVIL, "text": EVIL}],
    }  # fmt: skip
    run = made(tmp_path, [
        {**evil, "id": EVIL, "system": EVIL}, {**evil, "id": "2", "system": "b", "answer": "no"}
    ])  # fmt: skip
    found = Parsed(report_file(run)[0])
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert "img" not in [tag for tag, _ in found.tags]
    assert not [name for _, of in found.tags for name in of if name.startswith("on")]
    text = report_file(run)[0]
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_a_thousand_answers_with_long_contexts_stay_below_the_limit(tmp_path: Path) -> None:
    long = "Die Mole ist neunzig Meter lang, 桟橋の長さは九十メートル。 " * 100
    records = [record(at, system=s, text=long) for at in range(500) for s in ("a", "b" * 150)]
    html, _, left_out = report_file(made(tmp_path, records))
    assert len(html.encode()) <= 1_500_000
    assert html.count('id="a-') == 1_000
    assert any("cut at" in line for line in left_out)
    assert all(line in html for line in left_out)


def test_questions_of_a_megabyte_stay_below_the_limit(tmp_path: Path) -> None:
    records = [{**record(at), "question": "W" * 1_000_000} for at in range(3)]
    assert len(report_file(made(tmp_path, records))[0].encode()) <= LARGEST


@pytest.mark.parametrize(("length", "cut"), [(2_000, False), (2_001, True)])
def test_texts_are_cut_at_two_thousand_characters(tmp_path: Path, length: int, cut: bool) -> None:
    text = "x" * length
    one = {**record(0, text=text), "answer": text}
    html, _, left_out = report_file(made(tmp_path, [one]))
    assert ("Answers and references are cut at 2,000 characters." in left_out) is cut
    contexts = [line for line in left_out if line.startswith("Contexts are cut at 2,000 ")]
    assert bool(contexts) is cut
    assert "x" * 2_001 not in html


def test_of_more_than_a_thousand_answers_the_worst_are_listed(tmp_path: Path) -> None:
    records = [record(at) for at in range(1_201)]
    html, _, left_out = report_file(made(tmp_path, records))
    assert "The table has the 1,000 worst of 1,201 answers." in left_out
    assert html.count('id="a-') == ROOMS[0][1]


def test_where_nothing_can_be_computed_the_report_says_so(tmp_path: Path) -> None:
    bare = {"id": "1", "question": "Is it red?", "answer": "It is red."}
    run = ragstone.evaluate([bare], metrics=["context_recall"], out=tmp_path / "run")
    text = report_file(run)[0]
    assert "No answer could be better, or no metric says which are worse." in text
    assert "1 answer</h2>" in text


def test_a_missing_score_is_said_to_be_missing_with_its_reason(tmp_path: Path) -> None:
    records = [record(at) for at in range(3)]
    run = ragstone.evaluate(records, metrics=["faithfulness"], judge="human", out=tmp_path / "run")
    text = report_file(run)[0]
    assert text.count(">missing</span></td>") == 3
    assert text.count("data-missing") == 3


def test_it_is_a_page_of_the_app_too(client: TestClient) -> None:
    answer = client.get("/runs/cornwall/report.html")
    policy = answer.headers["content-security-policy"]
    assert answer.status_code == 200
    assert Parsed(answer.text).policy in policy
    assert "frame-ancestors 'none'" in policy
    kept = client.get("/runs/cornwall/report.html?download=1")
    assert kept.headers["content-disposition"].startswith("attachment")


def test_a_run_that_is_not_there_has_no_report(tmp_path: Path) -> None:
    assert client_of(tmp_path).get("/runs/nobody/report.html").status_code == 404


def test_it_is_written_from_python_and_says_what_it_left_out(tmp_path: Path) -> None:
    made(tmp_path, [record(at) for at in range(60)])
    found = ragstone.write_report(tmp_path / "run", tmp_path / "sent" / "report.html")
    assert found.path.stat().st_size == found.size
    assert "Of the 50 worst answers alone there are whole answers and contexts." in found.left_out


def test_a_report_lists_the_criteria_that_the_worst_answers_do_not_meet(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "question": "When?", "answer": "31 July.",
         "criteria": ["Mentions the deadline", "Names nobody"],
         "labels": {"criteria": [{"met": 1}, {"met": 0}]}},
    ]  # fmt: skip
    run = ragstone.evaluate(rows, metrics="criteria", judge="human", out=tmp_path / "run")
    text = report_file(run)[0]
    listed = text.partition("<h3>criteria not met</h3>")[2].partition("</ul>")[0]
    assert "Names nobody" in listed
    assert "Mentions the deadline" not in listed
    assert "No judge gave a reason" not in text
