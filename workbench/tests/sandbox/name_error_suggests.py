# end: Exit(1)
total = 3
print(totl)
