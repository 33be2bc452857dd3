"""A report for other programs: test runners, systems that mark homework, editors, browsers. Text in, text out."""
