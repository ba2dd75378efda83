"""An independent recomputation of a run, from its raw records up.

Shares no code with the package: records are read as JSON, and what follows is made again with
pandas and scipy alone, from what the documentation says, so that a fault of the package cannot
hide in both. `tables` holds the tables of repetitions, the summary and the ratios against it;
`text` the report: `document` takes it apart, `sentences` has what each form of sentence has to say
in a file per template, `report_tables` what each field has to show. What these need of a profile is
in `profile`, `functions` and `account`, of CPU budgets and datagrams in `driven`, `budget` and
`two_terms`, of the answers in `expectations`, `explained` and `quality`, of other runs in
`published`.

`python -m tools.recompute results` ends with how many of the report's numbers were checked, and in
which sections how many are not recomputed: of a default run some ten, such as an example in a
sentence or the version of a tool. `--power` changes each number that agrees by 7 % (counts by one
at least) and tells how many of the changed ones are found: of a default run 91 % in sentences and
99 % in tables. Those that are not found are mostly ends of wide intervals, and numbers whose two
digits leave that much open.
"""
