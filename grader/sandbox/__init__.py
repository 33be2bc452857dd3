"""The process that runs the learner's file, and the judge's end of it."""
