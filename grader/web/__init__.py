"""The page in the browser: `kata web`. Its server listens on this machine alone and serves one learner."""
