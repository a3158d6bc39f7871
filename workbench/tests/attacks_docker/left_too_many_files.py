# end: Exit(0)
# says: holds more than
# seconds: 60
for number in range(2000):
    try:
        open(f"/data/out/{number}", "w").close()
    except OSError as error:
        print(number, error.strerror)
        break
