"""Evidence that a file tampers with what the sandbox observes: values cannot be forged, observations could be.

The harness is out of reach by name (:mod:`hiding`), an audit hook sees who reaches for it all the same (:mod:`audit`),
what switches observers off says so (:mod:`gates`), and what torch and the harness consist of is compared with what it
was before the file was loaded (:mod:`namespaces`). All of it is evidence and no proof: see docs/safety.md.
"""
