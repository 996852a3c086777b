"""What gdb shows of regions, of a process that runs or of a core dump.

    (gdb) source /usr/share/drasync/drasync-gdb.py
    (gdb) print region              of type drasync_region_t: its name, size, holds
    (gdb) drasync regions           those that the process's node knows
    (gdb) drasync where POINTER     the region that it points into

Nothing is called in the process, and nothing is changed: all is read from the
control memory that the ranks of a node share, by the library's debugging
information (-g).  A process that runs on meanwhile, in other ranks too, may show
what was true a moment ago.  Names are known on the job's first node only.
"""

import struct

import gdb

PAGE_SHIFT = 12
# Longer chains and deeper trees are being changed, or overwritten.
STEPS_MAX = 1 << 20
# runtime/native/lease_word.h
WORD_STATES, WORD_HELD, WORD_READ = 3, 2, 16
WORD_HOLDER_BIT, WORD_LOCALS_MAX = 8, 4095


class Absent(gdb.GdbError):
    """DRASync does not run in the process, or cannot be looked at."""


def number(value):
    """Also of an atomic one."""
    return int(value.cast(gdb.lookup_type("unsigned long")))


def chain(first, following):
    """The objects of a list that ends with NULL."""
    for _ in range(STEPS_MAX):
        if number(first) == 0:
            return
        yield first.dereference()
        first = first[following]


class Node:
    """What one process sees of its node."""

    def __init__(self):
        self.runtime, objfile = self.find_runtime()
        native = objfile.lookup_global_symbol("native")
        self.native = native.value()["shared"] if native else None
        if not self.native or number(self.native) == 0:
            raise Absent("DRASync has no regions in this process")
        self.names = self.read_names(objfile)
        self.base = number(self.runtime["space"]["base"])
        self.leases = self.read_leases()

    @staticmethod
    def find_runtime():
        """The library's, or the shim's, or that of a program linked statically."""
        seen = False
        for objfile in gdb.objfiles():
            symbol = objfile.lookup_global_symbol("runtime")
            if not symbol or str(symbol.type) != "struct runtime":
                seen = seen or "libdrasync" in (objfile.filename or "")
                continue
            if number(symbol.value()["shared"]) != 0:
                return symbol.value(), objfile
            seen = False
        raise Absent(
            "libdrasync has no debugging information: build it with -g"
            if seen
            else "DRASync does not run in this process"
        )

    @staticmethod
    def read_names(objfile):
        """By the region's address; of several names one."""
        names = {}
        # Other files have variables called so, too.
        shared = [
            symbol.value()
            for symbol in gdb.lookup_static_symbols("names")
            if symbol.symtab.objfile == objfile
            and str(symbol.type) == "struct names_shared *"
        ]
        if not shared or number(shared[0]) == 0:
            return names
        buckets = shared[0]["table"]["by_name"]
        for bucket in pointers(buckets):
            first = gdb.Value(bucket).cast(buckets.type.target())
            for entry in chain(first, "next"):
                names[number(entry["address"])] = entry["name"].string()
        return names

    def read_leases(self):
        """What says of a record who has it, in the place of its hold."""
        words = {}
        leases = self.native["leases"]
        for i in range(leases.type.range()[1] + 1):
            used = leases[i]["used"]
            for n in range(leases[i]["slot"].type.range()[1] + 1):
                if number(used[n // 64]) >> n % 64 & 1:
                    slot = leases[i]["slot"][n].dereference()
                    words[number(slot["region"])] = number(slot["word"])
        return words

    def regions(self):
        """The records, by address."""
        buckets = self.native["buckets"]
        entry = gdb.lookup_type("struct native_entry").pointer()
        record = gdb.lookup_type("struct proto_region").pointer()
        found = {}
        for bucket in pointers(buckets):
            for e in chain(gdb.Value(bucket).cast(entry), "next"):
                region = gdb.Value(number(e["region"])).cast(record)
                # Bit 0: NATIVE_ENTRY_NEW.
                if number(region) and number(e["address"]) & ~1:
                    found[number(region["address"])] = region.dereference()
        return found

    def rank_of(self, local):
        return number(self.runtime["shared"]["ranks"][local]["rank"])

    def writer(self, region):
        """The rank that has it for WRITE, or None."""
        word = self.leases.get(number(region.address), 0)
        if word and not word & WORD_READ:
            if word & WORD_STATES != WORD_HELD:
                return None
            return self.rank_of(word >> WORD_HOLDER_BIT & WORD_LOCALS_MAX)
        rank = int(region["write_rank"])
        return rank if rank >= 0 else None

    def extents(self, region):
        """(address, bytes) of each."""
        if number(region["memory"]) == 0:
            return
        memory = region["memory"].cast(
            gdb.lookup_type("struct native_memory").pointer()
        )
        for extent in chain(memory["first"], "next"):
            first = number(extent["first_page"])
            yield (
                self.base + (first << PAGE_SHIFT),
                number(extent["pages"]) << PAGE_SHIFT,
            )

    def title(self, address):
        name = self.names.get(address)
        return f'{address:#x} "{name}"' if name else f"{address:#x}"

    def text(self, region):
        address = number(region["address"])
        extents = list(self.extents(region))
        parts = [
            f"{sum(size for _, size in extents)} B",
            "owned here"
            if region["owned"]
            else f"owned by node {int(region['hint'])}, as far as known"
            if number(region["epoch"])
            else "owned elsewhere",
        ]
        writer = self.writer(region)
        ranks = number(self.runtime["shared"]["ranks_of_job"])
        if writer is not None and writer < ranks:
            parts.append(f"rank {writer} has WRITE")
        elif writer is not None:
            parts.append("a function of drasync_run has WRITE")
        if number(region["reads"]):
            parts.append(f"{number(region['reads'])} have READ here")
        if number(region["waiting"]):
            parts.append(f"{number(region['waiting'])} wait in its tree")
        if number(region["parent"]):
            parent = number(region["parent"]["address"])
            parts.append(f"below {self.title(parent)}")
        if region["dead"]:
            parts.append("deleted")
        return f"{self.title(address)}: {', '.join(parts)}"


def pointers(array):
    """Those of an array of pointers that are not NULL, read at once."""
    count = array.type.range()[1] + 1
    data = gdb.selected_inferior().read_memory(number(array.address), 8 * count)
    return [p for p in struct.unpack(f"<{count}Q", bytes(data)) if p]


class RegionPrinter:
    """Of a handle."""

    def __init__(self, value):
        self.address = number(value)

    def to_string(self):
        if self.address == 0:
            return "NULL"
        try:
            node = Node()
            region = node.regions().get(self.address)
        except (gdb.error, gdb.GdbError) as error:
            return f"{self.address:#x} ({error})"
        if region is None:
            return f"{self.address:#x} (this node knows no such region)"
        return node.text(region)


class Drasync(gdb.Command):
    """Regions of DRASync."""

    def __init__(self):
        super().__init__("drasync", gdb.COMMAND_DATA, prefix=True)


class Regions(gdb.Command):
    """drasync regions: those that this process's node knows, by address."""

    def __init__(self):
        super().__init__("drasync regions", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("drasync regions takes no argument")
        node = Node()
        for _, region in sorted(node.regions().items()):
            print(node.text(region))


class Where(gdb.Command):
    """drasync where POINTER: the region that it points into."""

    def __init__(self):
        super().__init__("drasync where", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("drasync where takes a pointer")
        at = number(gdb.parse_and_eval(argument))
        node = Node()
        for _, region in node.regions().items():
            for first, size in node.extents(region):
                if first <= at < first + size:
                    print(
                        f"{at:#x} is {at - first} B into the {size} B at "
                        f"{first:#x} of region {node.text(region)}"
                    )
                    return
        print(f"{at:#x} is in no region that this node knows")


def find_printer(value):
    # By the name of the type as it was written: the structure is incomplete.
    if value.type.name == "drasync_region_t":
        return RegionPrinter(value)
    return None


Drasync()
Regions()
Where()
gdb.pretty_printers.insert(0, find_printer)
