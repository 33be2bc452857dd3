"""The tables of the history, as the steps that lead from an empty file to the present ones.

A step that has been released is never edited: a change of the tables is a new step at the end.
"""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE sources (digest TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID",
        # The report comes last: a query that does not want it never reads its pages.
        """
        CREATE TABLE attempts (
            id INTEGER PRIMARY KEY,
            kata TEXT NOT NULL,
            at TEXT NOT NULL,
            verdict TEXT NOT NULL,
            passed INTEGER NOT NULL,
            total INTEGER NOT NULL,
            seconds REAL NOT NULL,
            whole INTEGER NOT NULL,
            digest TEXT NOT NULL REFERENCES sources (digest),
            report TEXT NOT NULL
        )
        """,
        "CREATE INDEX attempts_by_kata ON attempts (kata)",
        "CREATE TABLE starts (id INTEGER PRIMARY KEY, kata TEXT NOT NULL, at TEXT NOT NULL)",
        """
        CREATE TABLE hints (
            id INTEGER PRIMARY KEY,
            kata TEXT NOT NULL,
            start INTEGER NOT NULL, -- the round they belong to, 0 before the first start
            rung INTEGER NOT NULL,
            at TEXT NOT NULL
        )
        """,
        "CREATE TABLE reveals (id INTEGER PRIMARY KEY, kata TEXT NOT NULL, at TEXT NOT NULL, gave_up INTEGER NOT NULL)",
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    ),
    (
        # A debug round is a round of `mha.debug`: its starts, attempts, hints and reveals have that in the place of the
        # kata. What was planted comes last, as the reports do.
        """
        CREATE TABLE debug_rounds (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            at TEXT NOT NULL,
            seed INTEGER NOT NULL,
            bugs INTEGER NOT NULL,
            repaired TEXT, -- when, NULL before
            gave_up TEXT, -- when, NULL unless before the repair
            planted TEXT NOT NULL
        )
        """,
        "CREATE INDEX debug_rounds_by_name ON debug_rounds (name)",
    ),
    (
        # Attempts and reveals of a round are those behind its start, by number: a clock set back mixes up none.
        "ALTER TABLE starts ADD COLUMN after_attempt INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE starts ADD COLUMN after_reveal INTEGER NOT NULL DEFAULT 0",
        # Whether a debug round, or one of a mock interview, counts as a review of its kata; other rounds always do.
        "ALTER TABLE starts ADD COLUMN counts INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE starts SET
            after_attempt = (SELECT COALESCE(MAX(id), 0) FROM attempts WHERE attempts.at < starts.at),
            after_reveal = (SELECT COALESCE(MAX(id), 0) FROM reveals WHERE reveals.at < starts.at)
        """,
        # What a learner says of a round, which corrects what follows from it (the last word counts), or of an answer
        # to a question, each of which counts.
        """
        CREATE TABLE ratings (
            id INTEGER PRIMARY KEY,
            card TEXT NOT NULL, -- `mha`, or `mha/question`
            start INTEGER NOT NULL, -- the round, 0 for a question
            rating INTEGER NOT NULL,
            at TEXT NOT NULL
        )
        """,
        # A mock interview: what was agreed, then what happened. Its score card comes last.
        "CREATE TABLE mocks (id INTEGER PRIMARY KEY, at TEXT NOT NULL, plan TEXT NOT NULL, ended TEXT, card TEXT)",
        """
        CREATE TABLE mock_steps (
            id INTEGER PRIMARY KEY,
            mock INTEGER NOT NULL REFERENCES mocks (id),
            kind TEXT NOT NULL,
            stage INTEGER NOT NULL,
            at TEXT NOT NULL,
            digest TEXT,
            detail TEXT
        )
        """,
        "CREATE INDEX mock_steps_by_mock ON mock_steps (mock)",
    ),
)
