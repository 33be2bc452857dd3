# says: does not load: no answer within .* line [34]
# outcome: timeout
while True:
    pass
