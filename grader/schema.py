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
)
