# Stands in for a model that writes one script: this is what it would send. Only what is printed is read by the model.
import asyncio

from tools.aio import *


async def main():
    trails = await asyncio.gather(*(get_trail(number) for number in range(1, 25)))
    best = {}
    for trail in sorted(trails, key=lambda trail: trail["length_km"]):
        if trail["open"]:
            best[trail["region"]] = trail
    tour = sorted(best.values(), key=lambda trail: -trail["length_km"])[:5]
    await build_page("tour", [trail["number"] for trail in tour])
    print(f"{len(trails)} trails read, {sum(trail['length_km'] for trail in tour):.1f} km chosen")
    for trail in tour:
        print(trail["number"], "|", trail["name"], "|", trail["region"])


asyncio.run(main())
