# end: Exit(1)
print("never")
x = = 3
