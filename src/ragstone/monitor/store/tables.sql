-- The tables of the monitor store; store_layout.py says what {serial} and {blob} are in SQLite and
-- in PostgreSQL.
--
-- ``received`` holds what was acknowledged, as it came: one row for each trace of a request. The
-- worker folds the rows of a trace into ``examples`` and writes everything below; ``traces.through``
-- is the last row folded, and ``waiting`` says that more may come. ``to_do`` says what comes next
-- for an example: to be assessed by the guard's checks, or to be drawn or not.
--
-- ``draws`` says with which probability each example was drawn to be judged, and what became of it:
-- out, due, judged, failed or shed. It was drawn if its lot is below that probability; the turns of
-- a session share a lot, and an example without a stored lot had its own. A score's weight
-- is one over its probability. ``again``: the example had been judged before and its text changed,
-- so no detector counts it twice.
--
-- ``open_sessions`` are unfinished sessions with a score of a metric that is watched by session;
-- ``watched_sessions`` those that are over, with one score, each once: value, undefined,
-- missing (the judge failed at a turn), or out, where a turn was not drawn. ``example`` is the last
-- turn.

CREATE TABLE received (number {serial}, trace TEXT NOT NULL, kind TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL, body {blob} NOT NULL);
CREATE INDEX received_of ON received (trace, number);

CREATE TABLE traces (trace TEXT PRIMARY KEY, first_at DOUBLE PRECISION NOT NULL,
  last_at DOUBLE PRECISION NOT NULL, rooted INTEGER NOT NULL, waiting INTEGER NOT NULL,
  through BIGINT NOT NULL, content TEXT NOT NULL);
CREATE INDEX traces_waiting ON traces (last_at) WHERE waiting = 1;
CREATE INDEX traces_last ON traces (last_at);

CREATE TABLE examples (example TEXT PRIMARY KEY, trace TEXT NOT NULL, span TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL, folded_at DOUBLE PRECISION NOT NULL, settled INTEGER NOT NULL,
  session TEXT, person TEXT, version TEXT, system TEXT NOT NULL, record TEXT NOT NULL,
  text_hash TEXT NOT NULL, facts TEXT NOT NULL);
CREATE INDEX examples_at ON examples (at);
CREATE INDEX examples_of_trace ON examples (trace);
CREATE INDEX examples_of_session ON examples (session) WHERE session IS NOT NULL;
CREATE INDEX examples_of_person ON examples (person) WHERE person IS NOT NULL;

CREATE TABLE facets (example TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (example, name));
CREATE INDEX facets_by_value ON facets (name, value);

CREATE TABLE to_do (example TEXT NOT NULL, step TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (example, step));
CREATE INDEX to_do_next ON to_do (step, at, example);

CREATE TABLE assessed (example TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL,
  text_hash TEXT NOT NULL, ok INTEGER, confidence DOUBLE PRECISION, assessment TEXT NOT NULL);

CREATE TABLE draws (example TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL,
  probability DOUBLE PRECISION NOT NULL, state TEXT NOT NULL, due_at DOUBLE PRECISION NOT NULL,
  text_hash TEXT NOT NULL, source TEXT NOT NULL, tries INTEGER NOT NULL, lot DOUBLE PRECISION);
CREATE INDEX draws_due ON draws (due_at) WHERE state = 'due';
CREATE INDEX draws_at ON draws (at);

CREATE TABLE scores (number {serial}, example TEXT NOT NULL, metric TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL, judged_at DOUBLE PRECISION NOT NULL, value DOUBLE PRECISION,
  status TEXT NOT NULL, reason TEXT NOT NULL, label TEXT, judge TEXT NOT NULL,
  probability DOUBLE PRECISION NOT NULL, version TEXT, source TEXT NOT NULL, again INTEGER NOT NULL,
  UNIQUE (example, metric, source));
CREATE INDEX scores_over_time ON scores (metric, at);
CREATE INDEX scores_of_people ON scores (metric, at) WHERE source = 'people';
CREATE INDEX scores_in_order ON scores (metric, number);

CREATE TABLE judged (example TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL,
  text_hash TEXT NOT NULL, judge TEXT NOT NULL, judgements TEXT NOT NULL);

CREATE TABLE anchors (example TEXT PRIMARY KEY, record TEXT NOT NULL);

CREATE TABLE anchor_scores (example TEXT NOT NULL, metric TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL, value DOUBLE PRECISION, judge TEXT NOT NULL, PRIMARY KEY (example,
  metric, at));

CREATE TABLE detectors (rule TEXT NOT NULL, slice TEXT NOT NULL, identity TEXT NOT NULL,
  state TEXT NOT NULL, through BIGINT NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (rule, slice));

CREATE TABLE open_sessions (metric TEXT NOT NULL, session TEXT NOT NULL,
  due_at DOUBLE PRECISION NOT NULL, PRIMARY KEY (metric, session));
CREATE INDEX open_sessions_due ON open_sessions (metric, due_at, session);
CREATE INDEX open_sessions_by_id ON open_sessions (session);

CREATE TABLE watched_sessions (number BIGINT PRIMARY KEY, session TEXT NOT NULL,
  example TEXT NOT NULL, metric TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,
  judged_at DOUBLE PRECISION NOT NULL, value DOUBLE PRECISION, status TEXT NOT NULL,
  probability DOUBLE PRECISION NOT NULL, version TEXT, judge TEXT NOT NULL, UNIQUE (metric,
  session));
CREATE INDEX watched_sessions_in_order ON watched_sessions (metric, number);
CREATE INDEX watched_sessions_by_time ON watched_sessions (metric, at);
CREATE INDEX watched_sessions_of ON watched_sessions (example);

CREATE TABLE alarms (number {serial}, rule TEXT NOT NULL, slice TEXT NOT NULL, kind TEXT NOT NULL,
  state TEXT NOT NULL, since DOUBLE PRECISION NOT NULL, fired_at DOUBLE PRECISION NOT NULL,
  resolved_at DOUBLE PRECISION, facts TEXT NOT NULL);
CREATE UNIQUE INDEX alarms_firing ON alarms (rule, slice, kind) WHERE state = 'firing';
CREATE INDEX alarms_of ON alarms (rule, slice, number);

CREATE TABLE told (alarm BIGINT NOT NULL, channel TEXT NOT NULL, event TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL, tries INTEGER NOT NULL, state TEXT NOT NULL, error TEXT NOT NULL,
  PRIMARY KEY (alarm, channel, event));

CREATE TABLE silences (rule TEXT PRIMARY KEY, until DOUBLE PRECISION NOT NULL,
  person TEXT NOT NULL);

CREATE TABLE versions (version TEXT PRIMARY KEY, first_at DOUBLE PRECISION NOT NULL);

CREATE TABLE counts (minute BIGINT NOT NULL, what TEXT NOT NULL, n BIGINT NOT NULL,
  PRIMARY KEY (minute, what));

CREATE TABLE malformed (number {serial}, at DOUBLE PRECISION NOT NULL, why TEXT NOT NULL,
  body {blob} NOT NULL);

CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE score_sums (metric TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  slot BIGINT NOT NULL, n BIGINT NOT NULL, w DOUBLE PRECISION NOT NULL,
  wx DOUBLE PRECISION NOT NULL, ww DOUBLE PRECISION NOT NULL, wwx DOUBLE PRECISION NOT NULL,
  wwxx DOUBLE PRECISION NOT NULL, most DOUBLE PRECISION NOT NULL, undefined BIGINT NOT NULL,
  missing BIGINT NOT NULL, missing_w DOUBLE PRECISION NOT NULL, PRIMARY KEY (metric, name, value,
  slot));

CREATE TABLE to_sum (metric TEXT NOT NULL, slot BIGINT NOT NULL, PRIMARY KEY (metric, slot));

CREATE TABLE lines (number {serial}, at DOUBLE PRECISION NOT NULL, level TEXT NOT NULL,
  text TEXT NOT NULL);
