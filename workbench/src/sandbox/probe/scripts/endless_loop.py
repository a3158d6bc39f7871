# probe: a loop without end
# expected: killed at its time limit
# seconds: 1
while True:
    pass
