"""The screens of the monitor, over a store with a day of production in it."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.cli.app import app
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.send_to_people import DRAWN, PICKED
from ragstone.monitor.series.baselines import AlarmBar
from ragstone.monitor.settings import DEFAULTS, AlarmRule, BaselineSettings, MonitorSettings
from ragstone.monitor.store.rows import HEARTBEAT, Facet, count, keep
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.store.stored_alarms import silenced_until
from ragstone.web.parts.conversation_tables import conversation_facts
from ragstone.web.runs_folder import MonitorScreens, RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.monitor.duties.arriving import receive_answers
from tests.monitor.series.scores import converse, put
from tests.web.conftest import HOST, SECRET, client_of
from tests.web.production import MARKUP, a_day

PAGES = (
    "/monitor",
    "/monitor?last=7d",
    "/monitor/examples",
    "/monitor/examples?where=guard_ok:0..0",
    "/monitor/examples?where=faithfulness&alarm=1",
    "/monitor/drift",
    "/monitor/rules",
    "/monitor/alarms/1",
    "/monitor/alarms/2",
    "/monitor/log",
    "/monitor/log?grave=1",
    "/monitor/malformed",
)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("day")
    a_day(folder, time.time())
    return folder


@pytest.fixture
def store(day: Path) -> Iterator[MonitorStore]:
    found = open_store(day)
    yield found
    found.close()


@pytest.fixture
def screens(store: MonitorStore) -> TestClient:
    place = RunsFolder(store.folder, watching=MonitorScreens(store, DEFAULTS))
    access = Access(frozenset({HOST}), "", SECRET)
    return TestClient(make_app(place, access), follow_redirects=False)


def shown(client: TestClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def ids_in(page: str) -> list[str]:
    return re.findall(r'href="/monitor/examples/(\d+)', page)


@pytest.mark.parametrize("address", PAGES)
def test_each_screen_is_shown_and_belongs_to_the_monitor(screens: TestClient, address: str) -> None:
    assert '<a class="live" href="/monitor" aria-current="page">Monitor</a>' in shown(
        screens, address
    )


def test_a_folder_without_a_monitor_has_no_such_tab_and_no_such_page(runs: Path) -> None:
    client = client_of(runs)
    assert 'href="/monitor"' not in shown(client, "/annotate")
    answer = client.get("/monitor")
    assert answer.status_code == 404
    assert "ragstone monitor serve" in answer.text


def test_view_shows_the_monitor_of_a_folder_that_holds_one(day: Path) -> None:
    assert "This server only shows" not in shown(client_of(day), "/monitor")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (20, "the worker is alive"),
        (90, '<b class="caution">the worker is silent: no sign of life for'),
        (400, '<b class="bad">the worker is dead: no sign of life for'),
    ],
)
def test_the_first_screen_and_the_status_call_the_worker_the_same(
    seconds: float, said: str, tmp_path: Path
) -> None:
    store = open_store(tmp_path)
    with store.database.transaction() as run:
        keep(run, HEARTBEAT, {"at": time.time() - seconds, "pid": 1})
    receive_answers(store, time.time() - seconds, [1])
    Folding(store).fold_all()
    store.close()
    assert said in shown(client_of(tmp_path), "/monitor")
    told = CliRunner().invoke(app, ["monitor", "status", "--store", str(tmp_path), "--json"])
    assert json.loads(told.stdout)["worker"] in said


def test_the_first_screen_says_what_came_and_what_is_wrong(screens: TestClient) -> None:
    page = shown(screens, "/monitor")
    assert re.search(r"<b><bdi>240</bdi></b> answers in 24 h, <b><bdi>\d+</bdi></b> judged", page)
    assert "none lost, 3 malformed kept aside" in page
    assert re.search(r"<b>(1[58]|21)</b> judged of \1 due in the last hour", page)
    assert '<b class="bad">the worker has not begun</b>' in page
    assert "faithfulness has been below its bar since" in page
    assert 'href="/monitor/alarms/1"' in page
    assert 'href="/monitor/malformed"' in page
    assert "<dt>malformed, kept aside</dt><dd><b>3</b>" in page
    assert "<dt>requests refused</dt><dd><b>2</b>" in page


def test_a_metric_is_drawn_with_the_same_numbers_as_a_table(screens: TestClient) -> None:
    page = shown(screens, "/monitor?metric=faithfulness")
    assert page.count(" over time</caption>") == 2, "its own, and that of whole conversations"
    assert 'class="chart series timeline"' in page
    assert 'class="stretch"' in page
    assert ">v42</text>" in page
    rows = page.partition("faithfulness over time</caption>")[2].partition("</table>")[0]
    assert rows.count("<tr>") > 10


def test_a_slice_counts_its_own_answers(screens: TestClient) -> None:
    assert "<b><bdi>80</bdi></b> answers" in shown(screens, "/monitor?slice=language:en")
    assert "<b><bdi>160</bdi></b> answers" in shown(screens, "/monitor?slice=language:de")


def test_the_checks_of_the_guard_are_a_table_and_each_leads_to_its_course(
    screens: TestClient,
) -> None:
    page = shown(screens, "/monitor")
    assert 'href="/monitor?metric=guard_groundedness">guard_<wbr>groundedness</a>' in page
    course = shown(screens, "/monitor?metric=guard_groundedness")
    assert "groundedness over time</caption>" in course
    assert "faithfulness over time</caption>" not in course


def test_missing_texts_are_said_with_the_variable_that_brings_them(tmp_path: Path) -> None:
    a_day(tmp_path, time.time(), 6)
    store = open_store(tmp_path)
    with store.database.transaction() as run:
        count(run, time.time(), {"content_none": 100_000})
    store.close()
    page = shown(client_of(tmp_path), "/monitor")
    assert "came without their texts" in page
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT" in page


def test_an_alarm_is_said_in_words_and_drawn(screens: TestClient) -> None:
    page = shown(screens, "/monitor/alarms/1")
    assert "0.580 in 117 judged answers (bar 0.750)" in page
    assert 'class="stretch"' in page
    assert "send all" in page.lower()


def test_an_empty_monitor_says_how_to_send_the_first_trace(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    place = RunsFolder(
        tmp_path, watching=MonitorScreens(store, DEFAULTS, takes=True, token="t<>ken")
    )
    client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
    page = shown(client, "/monitor")
    assert f"OTEL_EXPORTER_OTLP_ENDPOINT=http://{HOST}\n" in page
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT" in page
    assert "authorization=Bearer%20t&lt;&gt;ken" in page
    assert "/v1/examples" in page
    store.close()


def test_failed_checks_are_a_filter(screens: TestClient) -> None:
    page = shown(screens, "/monitor/examples?where=guard_ok:0..0")
    assert "guard_ok failed" in page
    assert "passed</span>" not in page.split("<tbody")[1]


def test_the_worst_of_a_metric_come_first(screens: TestClient) -> None:
    page = shown(screens, "/monitor/examples?where=faithfulness")
    found = [float(one) for one in re.findall(r"faithfulness <b>([\d.]+)</b>", page)]
    assert len(found) > 10
    assert found == sorted(found)


def test_answers_are_paged_newest_first_and_none_twice(screens: TestClient) -> None:
    first, second = (ids_in(shown(screens, f"/monitor/examples?page={at}")) for at in (1, 2))
    assert len(first) == len(second) == 25
    assert first[0] == "00239"
    assert not set(first) & set(second)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"slice": "language:en"}, "language is en"),
        ({"version": "v42"}, "version v42"),
        ({"session": "chat-0"}, "conversation chat-0"),
        ({"since": "6h"}, "from "),
        ({"where": "faithfulness:0..0.5"}, "faithfulness 0 to 0.5"),
        ({"alarm": "1"}, "alarm 1: faithfulness"),
    ],
)
def test_each_filter_is_said_in_words_and_leaves_some(
    screens: TestClient, query: dict[str, str], words: str
) -> None:
    page = shown(screens, f"/monitor/examples?{urlencode(query)}")
    assert f">{words}" in page
    assert "match, the" in page
    assert ids_in(page)


@pytest.mark.parametrize(
    "query", ["where=faithfulness:a..b", "slice=language", "alarm=x", "since=yesterday", "alarm=99"]
)
def test_a_filter_that_cannot_be_read_is_said(screens: TestClient, query: str) -> None:
    assert screens.get(f"/monitor/examples?{query}").status_code in (400, 404)


def test_a_filter_that_nothing_matches_offers_to_drop_it(screens: TestClient) -> None:
    page = shown(screens, "/monitor/examples?version=v99")
    assert "No answer matches" in page
    assert "Drop the last condition" in page


def test_the_answers_of_an_alarm_are_those_of_its_stretch(screens: TestClient) -> None:
    page = shown(screens, "/monitor/examples?alarm=1")
    assert "v41" not in page.split("<tbody")[1].split("</tbody>")[0]


def test_one_answer_has_its_claims_marked_and_its_weight(screens: TestClient) -> None:
    (first, *_) = ids_in(shown(screens, "/monitor/examples?where=faithfulness"))
    page = shown(screens, f"/monitor/examples/{first}?where=faithfulness")
    assert 'class="cl ' in page
    assert "weight 1.18" in page or "weight 4" in page
    assert re.search(r"1 of \d+ with", page)
    assert "gpt-5-mini" in page
    assert "1.4 s" in page
    assert "1795901694" not in page
    assert 'rel="next"' in page


def test_a_conversation_is_shown_turn_by_turn(screens: TestClient) -> None:
    page = shown(screens, "/monitor/sessions/chat-0")
    assert page.count('class="said"') == 3
    assert screens.get("/monitor/sessions/none").status_code == 404


def test_what_is_not_there_is_told(screens: TestClient) -> None:
    for address in ("/monitor/examples/none", "/monitor/alarms/77", "/monitor/alarms/x"):
        assert screens.get(address).status_code == 404


def test_the_log_can_be_read_without_what_is_usual(screens: TestClient) -> None:
    assert "began" in shown(screens, "/monitor/log")
    grave = shown(screens, "/monitor/log?grave=1")
    assert "began" not in grave
    assert "The worker died" in grave


def test_what_could_not_be_read_is_shown_with_why(screens: TestClient) -> None:
    page = shown(screens, "/monitor/malformed")
    assert "a span&#39;s id is not 8 bytes" in page
    assert "{&#34;name&#34;: &#34;chat&#34;}" in page


def test_a_rule_can_be_silenced_and_told_again(screens: TestClient, store: MonitorStore) -> None:
    form = {"secret": SECRET, "rule": "faithfulness", "silence": "8h", "person": "Ann"}
    assert screens.post("/monitor/rules", data=form).status_code == 303
    assert "by Ann" in shown(screens, "/monitor/rules")
    assert screens.post("/monitor/rules", data={**form, "silence": "0"}).status_code == 303
    with store.database.reading() as run:
        assert silenced_until(run, time.time()) == {}
    assert screens.post("/monitor/rules", data={**form, "rule": "no"}).status_code == 404
    assert screens.post("/monitor/rules", data={**form, "silence": "x"}).status_code == 400
    assert screens.post("/monitor/rules", data={**form, "secret": ""}).status_code == 403


@pytest.fixture
def patient_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations are waited for, however busy the machine is."""
    monkeypatch.setattr("ragstone.web.monitor_pages.rules_page.PATIENCE", 60)


@pytest.mark.usefixtures("patient_rules")
def test_a_rule_that_is_tried_gives_its_delay_and_its_lines(screens: TestClient) -> None:
    page = shown(screens, "/monitor/rules?metric=faithfulness&bar=0.8&before=0.85&after=0.75")
    assert "0.850 → 0.750: half noticed after" in page
    assert "[[rule]]\nmetric = &#34;faithfulness&#34;\nbar = 0.8\n" in page


@pytest.mark.usefixtures("patient_rules")
@pytest.mark.parametrize(
    "query", ["bar=x", "bar=1.5", "before=0.7", "rate=0.01", "metric=nothing_like_it", "answers=0"]
)
def test_a_rule_that_makes_no_sense_is_told_so(screens: TestClient, query: str) -> None:
    page = shown(screens, f"/monitor/rules?metric=faithfulness&{query}")
    assert '<p class="bad" role="alert">' in page


def items(folder: Path, queue: str) -> dict[str, float | None]:
    database = open_labels(folder)
    with database.reading() as run:
        rows = run("SELECT id, probability FROM items WHERE queue = ?", queue)
    assert Queue(database, queue).form.asked
    database.close()
    return dict(rows)


def test_chosen_answers_go_to_people_and_stand_for_no_others(
    screens: TestClient, day: Path
) -> None:
    chosen = {"secret": SECRET, "take": "chosen", "example 00239": "on", "example 00238": "on"}
    answer = screens.post("/monitor/annotate", data=chosen)
    assert answer.headers["location"] == f"/annotate/{PICKED}/progress"
    assert items(day, PICKED) == {"00238": None, "00239": None}
    screens.post("/monitor/annotate?alarm=1", data={"secret": SECRET, "take": "all"})
    assert len(items(day, PICKED)) > 2
    nothing = screens.post("/monitor/annotate", data={"secret": SECRET, "take": "chosen"})
    assert nothing.status_code == 400


def test_answers_drawn_by_chance_keep_their_probability(screens: TestClient, day: Path) -> None:
    form = {"secret": SECRET, "take": "random", "n": "20"}
    answer = screens.post("/monitor/annotate", data=form)
    assert answer.headers["location"] == f"/annotate/{DRAWN}/progress"
    found = items(day, DRAWN)
    assert len(found) == 20
    store = open_store(day)
    with store.database.reading() as run:
        judged = dict(run("SELECT example, probability FROM draws WHERE state = 'judged'"))
    store.close()
    (reach,) = {round(probability / judged[id], 9) for id, probability in found.items()}
    assert 10 / len(judged) < reach < 40 / len(judged)
    assert screens.post("/monitor/annotate", data={**form, "n": "2000"}).status_code == 303
    assert items(day, DRAWN) == judged
    again = screens.post("/monitor/annotate", data=form)
    assert "were sent to people before" in again.text
    with_scores = screens.post("/monitor/annotate?where=faithfulness", data=form)
    assert with_scores.status_code == 400


def test_answers_that_nobody_can_label_take_no_place_in_a_draw(tmp_path: Path) -> None:
    a_day(tmp_path, time.time(), 60)
    store = open_store(tmp_path)
    with store.database.transaction() as run:
        for id, record in list(
            run("SELECT example, record FROM examples WHERE example LIKE '%3' OR example < '00030'")
        ):
            run("UPDATE examples SET record = ? WHERE example = ?", _without_answer(record), id)
    with store.database.reading() as run:
        judged = {id for (id,) in run("SELECT example FROM draws WHERE state = 'judged'")}
        texts = dict(run("SELECT example, record FROM examples"))
    can = {id for id in judged if "answer" in json.loads(texts[id])}
    assert len(judged - can) > 5
    place = RunsFolder(tmp_path, watching=MonitorScreens(store, DEFAULTS))
    client = TestClient(
        make_app(place, Access(frozenset({HOST}), "", SECRET)), follow_redirects=False
    )
    form = {"secret": SECRET, "take": "random", "n": "7"}
    for sent in range(7, len(can), 7):
        assert client.post("/monitor/annotate", data=form).status_code == 303
        assert len(items(tmp_path, DRAWN)) == sent
    client.post("/monitor/annotate", data=form)
    assert items(tmp_path, DRAWN).keys() == can
    last = client.post("/monitor/annotate", data=form)
    assert "but for those without a text" in last.text
    store.close()


def _without_answer(record: str) -> str:
    return json.dumps({name: one for name, one in json.loads(record).items() if name != "answer"})


def test_the_first_screen_says_how_to_get_labels_and_what_they_say_of_the_judge(
    tmp_path: Path,
) -> None:
    a_day(tmp_path, time.time(), 60)
    store = open_store(tmp_path)
    place = RunsFolder(tmp_path, watching=MonitorScreens(store, DEFAULTS))
    app = make_app(place, Access(frozenset({HOST}), "", SECRET))
    client = TestClient(app, follow_redirects=False)
    before = people_of(shown(client, "/monitor?last=7d"))
    assert "Nobody has labelled any of these answers" in before
    assert "correct faithfulness, context_precision and abstention" in before
    (address,) = re.findall(r'action="([^"]+)"', before)
    sent = client.post(address, data={"secret": SECRET, "take": "random", "n": "5"})
    assert sent.headers["location"] == f"/annotate/{DRAWN}/progress"
    assert "0 of 10 items labelled" in people_of(shown(client, "/monitor?last=7d"))
    with store.database.transaction() as run:
        run(
            "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, "
            "judge, probability, version, source, again) SELECT example, metric, at, judged_at, "
            "0.25, 'value', '', NULL, 'people', probability, version, 'people', 0 FROM scores "
            "WHERE metric = 'faithfulness' AND source = 'sample'"
        )
    after = people_of(shown(client, "/monitor?last=7d"))
    assert re.search(r'faithfulness</th>.*<td class="n"><b>0.250</b>', after)
    assert "context precision</th>" not in after
    store.close()


def people_of(page: str) -> str:
    found = re.search(r'<section id="people">.*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    a_day(folder, time.time(), 40, hostile=True)
    return folder


def test_names_that_try_to_be_more_than_text_are_text_everywhere(hostile: Path) -> None:
    client = client_of(hostile)
    page = shown(client, "/monitor/examples")
    paths = re.findall(r'href="(/monitor/examples/[^"?]+)', page)
    assert len(paths) == 25
    session = quote(f"{MARKUP}/?#%\nchat-0", safe="")
    for address in (*PAGES, paths[0], f"/monitor/sessions/{session}"):
        found = shown(client, address)
        assert "<script>alert" not in found, address
        assert "<img src=x" not in found, address
        assert "\u202e" not in found, address


def test_a_metric_s_page_has_the_figures_of_whole_conversations(tmp_path: Path) -> None:
    now = time.time()
    with closing(open_store(tmp_path)) as store:
        converse(store, "a", now - 7_000, [1.0, 0.5])
        converse(store, "b", now - 6_000, [1.0, 0.0, 0.5], abstains=1.0)
        converse(store, "c", now - 5_000, [1.0, 1.0], out=1)
        place = RunsFolder(tmp_path, watching=MonitorScreens(store, DEFAULTS))
        client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
        assert 'id="conversations"' not in shown(client, "/monitor")
        page = shown(client, "/monitor?metric=faithfulness")
        for _ in range(100):
            if 'id="conversations"' in page:
                break
            time.sleep(0.05)
            page = shown(client, "/monitor?metric=faithfulness")
        section = page.partition('id="conversations"')[2].partition("</section>")[0]
        text = " ".join(re.sub("<[^>]+>", " ", section).split())
        assert "mean of turns 0.625" in text, "(.75 + .5) / 2"
        assert "worst turn 0.250" in text, "(.5 + 0) / 2"
        assert "resolved 0.500" in text, "one of two answers at last"
        assert "2 whole conversations, 1 more not judged whole" in text


def test_where_no_answer_has_a_session_there_are_no_conversations(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        put(store, [(time.time() - 60, 1.0)])
        place = RunsFolder(tmp_path, watching=MonitorScreens(store, DEFAULTS))
        client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
        assert 'id="conversations"' not in shown(client, "/monitor?metric=faithfulness")


def test_conversations_that_take_long_to_count_are_said_to_be_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, begun = Event(), list[float]()

    def slow(
        store: MonitorStore, metric: str, since: float, until: float, slice: Facet | None
    ) -> object:
        begun.append(until)
        counted.wait(30)
        return conversation_facts(store, metric, since, until, slice)

    monkeypatch.setattr("ragstone.web.monitor_pages.overview_page.conversation_facts", slow)
    monkeypatch.setattr("ragstone.web.monitor_pages.overview_page.PATIENCE", 0)
    now = time.time()
    with closing(open_store(tmp_path)) as store:
        converse(store, "a", now - 7_000, [1.0, 0.5])
        place = RunsFolder(tmp_path, watching=MonitorScreens(store, DEFAULTS))
        client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
        page = shown(client, "/monitor?metric=faithfulness")
        assert "being counted" in page
        assert 'id="conversations"' not in page
        # A minute later the first is still counted, and another one is not begun.
        later = now + 67
        monkeypatch.setattr("ragstone.web.monitor_pages.overview_page.time.time", lambda: later)
        assert "being counted" in shown(client, "/monitor?metric=faithfulness")
        assert len(begun) <= 1
        counted.set()
        monkeypatch.setattr("ragstone.web.monitor_pages.overview_page.PATIENCE", 60)
        assert 'id="conversations"' in shown(client, "/monitor?metric=faithfulness")


def test_the_page_of_rules_does_not_wait_until_the_baseline_run_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Event()

    def slow(*_: Any) -> AlarmBar:
        opened.wait(5)
        return AlarmBar(0.77)

    monkeypatch.setattr("ragstone.web.monitor_pages.rules_page.bar_of_run", slow)
    monkeypatch.setattr("ragstone.web.monitor_pages.rules_page.PATIENCE", 0)
    rule = AlarmRule("faith", "faithfulness", margin=0.05)
    settings = MonitorSettings(rules=(rule,), baseline=BaselineSettings(tmp_path / "run"))
    with closing(open_store(tmp_path)) as store:
        place = RunsFolder(tmp_path, watching=MonitorScreens(store, settings))
        client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
        page = shown(client, "/monitor/rules")
        assert "being simulated" in page
        assert "0.770 now" not in page
        opened.set()
        monkeypatch.setattr("ragstone.web.monitor_pages.rules_page.PATIENCE", 60)
        page = shown(client, "/monitor/rules")
        assert "0.770 now" in page
        assert "being simulated" not in page
