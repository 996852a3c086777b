/*
 * ownership.pml - the ownership protocol of docs/protocol.md in Promela: three
 * nodes with a rank each, a root A and its subregion B, which are acquired for
 * READ or WRITE, together or B alone, released, and deleted.
 *
 *   OPS     operations that each rank begins at most (default 1)
 *   KILLS   how many ranks may delete (default 3)
 *   FAULT   a rule that is left out, to see that it is missed (below)
 *   REPLAY  scripts/model made trace.h of a simulator's run: each command and
 *           message must be the next of it
 *
 * A step is atomic, as in protocol/, and channels are FIFO.  What belongs to a
 * token (queue, presence, shared locks, the number of its moves) is kept by
 * region here, since only the node that has the token touches it.  Left out:
 * LOCATE (all know the tree, and the home, node 0, as the first hint), copies
 * that are kept, what is asked ahead, UNREAD, lines, trees of readers, portions,
 * memory that runs out, ranks that give up.
 *
 * Checked: a region has one token, and one writer; a READ sees both regions as
 * they were at one moment; nothing of a deleted region is held or under way when
 * it is buried; every operation ends.  For that no run is endless, as the hops of
 * a request are bounded (assert), but for those of one that is ahead of a token
 * (LOST) while that is under way; and where nothing moves any more nothing waits
 * (init).
 */
#ifndef OPS
#define OPS 1
#endif
#ifndef KILLS
#define KILLS 3
#endif
#ifndef FAULT
#define FAULT 0
#endif
/* What FAULT leaves out. */
#define NO_SHARED 1 /* a READ in parts keeps writers out until SETTLED */
#define NO_HELD   2 /* a deletion asks whether somebody READs */
#define NO_DATA   3 /* a deletion waits until no data is under way */
#define NO_KEEP   4 /* who refuses what it kept sends it on */
#define NO_QUEUE  5 /* the queue goes with the token */
#define NO_LOCK   6 /* a part is locked until all parts are there */
#define NO_MORE   7 /* who was sending when the token left is asked first */

#define N 3
#define A 0
#define B 1
#define HOPS_MAX 6
#define LOST     8 /* added to hops */
#define SHARED   4 /* added to regions: for a READ in parts */
#define AT_REST(r) (own[I(0, r)] + own[I(1, r)] + own[I(2, r)])
#define HOME     0
#define I(n, r)  ((n) * 2 + (r))
#define BIT(n)   (1 << (n))

/* Messages; and what ranks do, for traces. */
#define REQUEST  1  /* region, node that asked */
#define TRANSFER 2  /* region, regions that come (and SHARED) */
#define REFUSED  3  /* region, 1: deleted, 0: busy */
#define SETTLED  4  /* region, regions that came (and SHARED) */
#define HELD     5  /* -, regions: RECALL, does somebody READ them? */
#define HELDED   6  /* -, 1: yes */
#define RECALL   7  /* -, regions: is data of them under way? */
#define RECALLED 8
#define BURY     9  /* -, regions */
#define BURIED   10
#define BEGIN    11 /* region, mode */
#define RELEASE  12 /* region */

#define READ  1
#define WRITE 2
#define KILL  3

/* type, region, argument (above), mode, move that is known, hops (and LOST) or
 * TOLD() */
chan to[9] = [5] of { byte, byte, byte, byte, byte, byte };

/* Tokens: where, how often moved; requests that wait, as node + 1 and 4 for
 * READ; nodes that may have copies, that may READ, that were sending when the
 * token left them; READs in parts that keep writers out. */
bit own[6], dead[2];
byte move[2], queue[6], pres[2], may[2], more[2], shr[2];

/* Nodes: where the token went, and which move that was; requests that wait for
 * it here; answers that are not settled; is it buried here; SETTLEDs that have
 * time, by what they say; who asked whether data is under way. */
byte hint[6], knows[6], kept[12], sends[6], late[9], asker[N], about[N];
bit gone[6];

/* The operation of each node's rank. */
#define IDLE    0
#define PART    1 /* to have its next part */
#define WAITS   2 /* its request is out, or in a queue */
#define HOLDS   3
#define ASKS    4 /* HELD is out */
#define RECALLS 5 /* it is dead, and RECALL is out */
#define BURIES  6
#define SURES   7 /* RECALL is out to those who were sending */
byte st[N], mode[N], top[N], at[N], asked[N], has[N], wait[N], left[N];
/* Of a READ in parts: who is to be told SETTLED, + 1; of its A, who keeps writers
 * out until then, perhaps this node. */
byte owes[6];
bit busy[N];
byte kills = KILLS;

/* Not of the protocol: versions of the data, and what READs saw. */
byte ver[2], saw[6];

/* For inlines. */
hidden byte who, set, told, i;

#ifdef REPLAY
#define NEVER 20000
short pos; /* in the trace; NEVER: this run is another one, and ends here */
#define ALIVE (pos != NEVER)
#include "trace.h"
inline emit(f, t, type, r, a)
{
    if
    :: NEXT_IS((((f) * 3 + (t)) * 16 + (type)) * 32 + (r) * 16 + (a)) -> pos++
    :: else -> pos = NEVER
    fi
}
#else
#define emit(f, t, type, r, a) skip
#define ALIVE true
#endif

/* The regions of a deletion's messages are not compared: a node is only asked
 * about those it may know. */
#define SHOWN(type) ((type) < HELD || (type) == HELDED)

#define CHANNEL(f, t) to[(f) * 3 + (t)]
#define LATE(f, t)    late[(f) * 3 + (t)]
/* In LATE: A alone, A with B, B, A alone for a READ in parts. */
#define LATE_BIT(r, regions) \
    ((r) == B -> 4 : ((regions) & SHARED -> 8 : ((regions) == 3 -> 2 : 1)))

/* SETTLED goes before anything else to that node, several in any order. */
inline settle(f, t)
{
    do
    :: LATE(f, t) & 1 ->
        LATE(f, t) = LATE(f, t) & 14;
        emit(f, t, SETTLED, A, 0);
        CHANNEL(f, t) ! SETTLED, A, 1, 0, 0, 0
    :: LATE(f, t) & 2 ->
        LATE(f, t) = LATE(f, t) & 13;
        emit(f, t, SETTLED, A, 0);
        CHANNEL(f, t) ! SETTLED, A, 3, 0, 0, 0
    :: LATE(f, t) & 4 ->
        LATE(f, t) = LATE(f, t) & 11;
        emit(f, t, SETTLED, B, 0);
        CHANNEL(f, t) ! SETTLED, B, 2, 0, 0, 0
    :: LATE(f, t) & 8 ->
        LATE(f, t) = LATE(f, t) & 7;
        emit(f, t, SETTLED, A, 0);
        CHANNEL(f, t) ! SETTLED, A, 1 + SHARED, 0, 0, 0
    :: else -> break
    od
}

inline settle_later(f, t, r, regions)
{
    if
    :: LATE(f, t) & LATE_BIT(r, regions) -> settle(f, t)
    :: else
    fi;
    LATE(f, t) = LATE(f, t) | LATE_BIT(r, regions)
}

inline send(f, t, type, r, a, m, known, hops)
{
    assert((f) != (t));
    settle(f, t);
    emit(f, t, type, r, ((a) & 3) * SHOWN(type));
    CHANNEL(f, t) ! type, r, a, m, known, hops
}

/* Has node n's rank r for WRITE, or locked? */
#if FAULT == NO_LOCK
#define WRITES(n, r) \
    (mode[n] >= WRITE && (has[n] & BIT(r)) && st[n] >= HOLDS)
#else
#define WRITES(n, r) (mode[n] >= WRITE && (has[n] & BIT(r)))
#endif

/* May r be given for m by node n, which has its token? */
#define FREE(n, r, m) \
    (own[I(n, r)] && !WRITES(n, r) && ((m) == READ || shr[r] == 0))
#define MODE(entry)  (WRITE - ((entry) >> 2))
#define ENTRY(x, m)  ((x) + 1 + 4 * ((m) == READ))

inline queue_put(r, entry)
{
    assert(queue[(r) * 3 + 2] == 0);
    if
    :: queue[(r) * 3] == 0 -> queue[(r) * 3] = entry
    :: queue[(r) * 3] != 0 && queue[(r) * 3 + 1] == 0 ->
        queue[(r) * 3 + 1] = entry
    :: else -> queue[(r) * 3 + 2] = entry
    fi
}

inline queue_take(r)
{
    queue[(r) * 3] = queue[(r) * 3 + 1];
    queue[(r) * 3 + 1] = queue[(r) * 3 + 2];
    queue[(r) * 3 + 2] = 0
}

/* The token of r leaves node n for x. */
inline give(n, x, r)
{
    own[I(n, r)] = 0;
    move[r]++;
    hint[I(n, r)] = x;
    knows[I(n, r)] = move[r];
    pres[r] = pres[r] | BIT(n);
    may[r] = may[r] | (mode[n] == READ && (has[n] & BIT(r)) -> BIT(n) : 0);
    more[r] = more[r] | (sends[I(n, r)] -> BIT(n) : 0);
    sends[I(n, r)]++;
#if FAULT == NO_QUEUE
    queue[(r) * 3] = 0; queue[(r) * 3 + 1] = 0; queue[(r) * 3 + 2] = 0
#else
    skip
#endif
}

/* What x sees of r is what is current while all else that it sees is, too. */
inline look(x, r)
{
    saw[I(x, r)] = ver[r];
    assert((r) == A || !(has[x] & BIT(A)) || saw[I(x, A)] == ver[A])
}

/* A TRANSFER of A alone says where n believes B to be, and since which move, in
 * place of hops. */
#define TOLD(n)                                               \
    (own[I(n, B)] -> 1 + (n) + 4 * move[B]                    \
                   : 1 + hint[I(n, B)] + 4 * knows[I(n, B)])

inline hear(n, where)
{
    if
    :: where && !own[I(n, B)] && where / 4 > knows[I(n, B)] ->
        hint[I(n, B)] = where % 4 - 1;
        knows[I(n, B)] = where / 4
    :: else
    fi
}

/* Does n, which answers with A alone, know no better than that B lives? */
#define IN_PARTS(n, r, set) \
    ((r) == A && (set) == 1 && !gone[I(n, B)] && !(own[I(n, B)] && dead[B]))

/* Node n answers x with r, and with B if that is here and free. */
inline answer(n, x, r, m)
{
    set = BIT(r);
    if
    :: (r) == A && !dead[B] && queue[B * 3] == 0 && FREE(n, B, m) -> set = 3
    :: else
    fi;
    if
    :: (m) == READ ->
        for (i : 0 .. 1) {
            if
            :: set & BIT(i) ->
                pres[i] = pres[i] | BIT(x);
                may[i] = may[i] | BIT(x);
                sends[I(n, i)]++;
                look(x, i)
            :: else
            fi
        }
#if FAULT != NO_SHARED
        shr[r] = shr[r] + IN_PARTS(n, r, set)
#endif
    :: else ->
        give(n, x, r);
        if
        :: (r) == A && set == 3 -> give(n, x, B)
        :: else
        fi
    fi;
    told = (IN_PARTS(n, r, set) -> TOLD(n) : 0);
    set = set + (IN_PARTS(n, r, set) && (m) == READ -> SHARED : 0);
    send(n, x, TRANSFER, r, set, m, move[r], told)
}

/* The operation of n has all its parts. */
inline complete(n)
{
    for (i : 0 .. 1) {
        if
        :: owes[I(n, i)] == n + 1 -> shr[i]--
        :: owes[I(n, i)] && owes[I(n, i)] != n + 1 ->
            settle_later(n, owes[I(n, i)] - 1, i,
                         BIT(i) + (i == A -> SHARED : 0))
        :: else
        fi;
        owes[I(n, i)] = 0;
        assert(mode[n] == READ || !(has[n] & BIT(i)) || own[I(n, i)])
    }
    st[n] = (mode[n] == KILL -> ASKS : HOLDS)
}

/* It has r; which is next? */
inline go_on(n, r)
{
    if
    :: (r) == A && top[n] == A && !gone[I(n, B)] && !(has[n] & BIT(B)) ->
        at[n] = B;
        st[n] = PART
    :: else -> complete(n)
    fi
}

/* Take r, which is here and free. */
inline take(n, r)
{
    has[n] = has[n] | BIT(r);
    if
    :: mode[n] == READ ->
        look(n, r);
        if
        :: r == A && !gone[I(n, B)] -> owes[I(n, A)] = n + 1; shr[A]++
        :: else
        fi
    :: else
    fi;
    go_on(n, r)
}

/* r is given to those in its queue, as far as it is free. */
inline serve(n, r)
{
    do
    :: queue[(r) * 3] && !dead[r] && FREE(n, r, MODE(queue[(r) * 3])) ->
        who = queue[(r) * 3];
        queue_take(r);
        if
        :: (who & 3) - 1 == n -> take(n, r)
        :: else -> answer(n, (who & 3) - 1, r, MODE(who))
        fi
    :: else -> break
    od
}

/* The operation ends, and lets go what it has. */
inline over(n)
{
    complete(n);
    st[n] = IDLE; has[n] = 0; wait[n] = 0; busy[n] = 0; mode[n] = 0;
    at[n] = 0; top[n] = 0; asked[n] = 0;
    saw[I(n, A)] = 0; saw[I(n, B)] = 0;
    serve(n, A);
    serve(n, B)
}

/* What waited with n for the token goes to the queue, which came; or on. */
inline unkeep(n, r, came)
{
    do
    :: kept[I(n, r) * 2] ->
        who = kept[I(n, r) * 2];
        kept[I(n, r) * 2] = kept[I(n, r) * 2 + 1];
        kept[I(n, r) * 2 + 1] = 0;
        if
        :: came -> queue_put(r, who)
#if FAULT != NO_KEEP
        :: !(came) && gone[I(n, r)] ->
            send(n, (who & 3) - 1, REFUSED, r, 1, 0, 0, 0)
        :: !(came) && !gone[I(n, r)] ->
            send(n, hint[I(n, r)], REQUEST, r, (who & 3) - 1, MODE(who),
                 knows[I(n, r)], 1)
#endif
        fi
    :: else -> break
    od
}

/* --- Messages ---------------------------------------------------------------- */

inline on_request(n, r, x, m, known, hops)
{
    assert(hops % LOST < HOPS_MAX);
    if
    :: gone[I(n, r)] || (own[I(n, r)] && dead[r]) ->
        send(n, x, REFUSED, r, 1, 0, 0, 0)
    :: else ->
        if
        :: own[I(n, r)] && queue[(r) * 3] == 0 && FREE(n, r, m) ->
            answer(n, x, r, m)
        :: own[I(n, r)] && !(queue[(r) * 3] == 0 && FREE(n, r, m)) ->
            if
            :: m == KILL -> send(n, x, REFUSED, r, 0, 0, 0, 0)
            :: else -> queue_put(r, ENTRY(x, m))
            fi
        :: !own[I(n, r)] && st[n] == WAITS && at[n] == r && mode[n] == WRITE &&
               known < asked[n] ->
            if
            :: m == KILL -> send(n, x, REFUSED, r, 0, 0, 0, 0)
            :: m != KILL && kept[I(n, r) * 2] == 0 ->
                kept[I(n, r) * 2] = ENTRY(x, m)
            :: else ->
                assert(kept[I(n, r) * 2 + 1] == 0);
                kept[I(n, r) * 2 + 1] = ENTRY(x, m)
            fi
        :: else -> /* perhaps to x itself, if it is on its way there already */
            if
            :: knows[I(n, r)] > known -> /* only to later moves */
                send(n, hint[I(n, r)], REQUEST, r, x, m, knows[I(n, r)],
                     hops % LOST + 1)
            :: knows[I(n, r)] <= known && (n == HOME || hops >= LOST) ->
                send(n, hint[I(n, r)], REQUEST, r, x, m, known,
                     hops % LOST + LOST + AT_REST(r))
            :: else ->
                send(n, HOME, REQUEST, r, x, m, known, hops + LOST + AT_REST(r))
            fi
        fi
    fi
}

inline on_transfer(n, f, r, regions, m, known, where)
{
    assert(st[n] == WAITS && at[n] == r && mode[n] == m);
    hear(n, where);
    has[n] = has[n] | (regions & 3);
    if
    :: m == READ ->
        if
        :: known >= knows[I(n, r)] -> hint[I(n, r)] = f; knows[I(n, r)] = known
        :: else
        fi;
        if
        :: regions & SHARED -> owes[I(n, A)] = f + 1
        :: r == B && owes[I(n, A)] -> owes[I(n, B)] = f + 1
        :: else -> settle_later(n, f, r, regions)
        fi
    :: else ->
        for (i : 0 .. 1) {
            if
            :: regions & BIT(i) ->
                assert(own[I(0, i)] + own[I(1, i)] + own[I(2, i)] == 0);
                own[I(n, i)] = 1;
                knows[I(n, i)] = move[i]
            :: else
            fi
        }
        settle_later(n, f, r, regions);
        unkeep(n, r, true)
    fi;
    go_on(n, r)
}

inline on_refused(n, r, deleted)
{
    assert(st[n] == WAITS && at[n] == r);
    gone[I(n, r)] = gone[I(n, r)] | deleted;
    unkeep(n, r, false);
    if
    :: deleted && top[n] != r -> complete(n) /* the rest is the subtree */
    :: else -> over(n)
    fi
}

/* Is data of these under way from n? */
#define UNDER_WAY(n, regions)                          \
    ((((regions) & 1) && sends[I(n, A)]) ||            \
     (((regions) & 2) && sends[I(n, B)]))

inline on_settled(n, f, r, regions)
{
    for (i : 0 .. 1) {
        if
        :: regions & BIT(i) -> sends[I(n, i)]--
        :: else
        fi
    }
    if
    :: regions & SHARED ->
#if FAULT != NO_SHARED
        assert(own[I(n, r)]);
        shr[r]--
#endif
    :: else
    fi;
    if
    :: asker[n] && !UNDER_WAY(n, about[n]) ->
        send(n, asker[n] - 1, RECALLED, 0, 0, 0, 0, 0);
        asker[n] = 0;
        about[n] = 0
    :: else
    fi;
    serve(n, r)
}

/* --- Deletion ----------------------------------------------------------------- */

/* Other nodes of @a, of A, and of @b, of B, if those are to be deleted. */
inline find(n, a, b)
{
    wait[n] = 0;
    if
    :: has[n] & 1 -> wait[n] = wait[n] | a
    :: else
    fi;
    if
    :: has[n] & 2 -> wait[n] = wait[n] | b
    :: else
    fi;
    wait[n] = wait[n] & (7 - BIT(n))
}

/* Those are asked, and answer. */
inline tell(n, type)
{
    for (i : 0 .. 2) {
        if
        :: wait[n] & BIT(i) -> send(n, i, type, 0, has[n], 0, 0, 0)
        :: else
        fi
    }
}

/* Nobody READs what n deletes: it is dead, and who waits for it is told. */
inline kill(n)
{
    st[n] = RECALLS;
    for (i : 0 .. 1) {
        if
        :: has[n] & BIT(i) ->
            dead[i] = 1;
            do
            :: queue[i * 3] ->
                who = queue[i * 3];
                queue_take(i);
                send(n, (who & 3) - 1, REFUSED, i, 1, 0, 0, 0)
            :: else -> break
            od
        :: else
        fi
    }
    find(n, pres[A], pres[B]);
    tell(n, RECALL)
}

inline on_bury(n, f, regions)
{
    assert(!(has[n] & regions) && !UNDER_WAY(n, regions));
    for (i : 0 .. 1) {
        if
        :: regions & BIT(i) -> gone[I(n, i)] = 1; unkeep(n, i, false)
        :: else
        fi
    }
    send(n, f, BURIED, 0, 0, 0, 0, 0)
}

/* What n's operation does by itself. */
inline turn(n)
{
    if
    :: st[n] == PART ->
        if
        :: gone[I(n, at[n])] || (own[I(n, at[n])] && dead[at[n]]) ->
            if
            :: top[n] == at[n] -> over(n)
            :: else -> complete(n)
            fi
        :: else ->
            if
            :: own[I(n, at[n])] && queue[at[n] * 3] == 0 &&
                   FREE(n, at[n], mode[n]) ->
                take(n, at[n])
            :: own[I(n, at[n])] &&
                   !(queue[at[n] * 3] == 0 && FREE(n, at[n], mode[n])) ->
                if
                :: mode[n] == KILL -> over(n)
                :: else ->
                    st[n] = WAITS;
                    queue_put(at[n], ENTRY(n, mode[n]))
                fi
            :: else ->
                st[n] = WAITS;
                asked[n] = knows[I(n, at[n])];
                send(n, hint[I(n, at[n])], REQUEST, at[n], n, mode[n], asked[n],
                     0)
            fi
        fi
    :: st[n] == ASKS && !wait[n] ->
#if FAULT == NO_HELD
        kill(n)
#else
        find(n, more[A], more[B]);
        if
        :: wait[n] && FAULT != NO_MORE -> st[n] = SURES; tell(n, RECALL)
        :: else ->
            find(n, may[A], may[B]);
            if
            :: wait[n] -> tell(n, HELD)
            :: else -> kill(n)
            fi
        fi
#endif
    :: st[n] == RECALLS && !wait[n] &&
           (FAULT == NO_DATA || !UNDER_WAY(n, has[n])) ->
        st[n] = BURIES;
        find(n, pres[A], pres[B]);
        tell(n, BURY)
    :: st[n] == BURIES && !wait[n] ->
        gone[I(n, A)] = gone[I(n, A)] | (has[n] & 1);
        gone[I(n, B)] = gone[I(n, B)] | (has[n] >> 1);
        over(n)
    fi
}

/* Has it anything to do? */
#define GOES_ON(n)                                                        \
    (st[n] == PART || ((st[n] == ASKS || st[n] == BURIES) && !wait[n]) || \
     (st[n] == RECALLS && !wait[n] &&                                     \
      (FAULT == NO_DATA || !UNDER_WAY(n, has[n]))))

/* LOCATE of a part that a node has not met: the home, which gave the token away,
 * says where to.  The two messages are left out: the hint may be old all the same
 * when it is used. */
#define MAY_LOCATE(n)                                               \
    (st[n] == PART && at[n] == B && top[n] == B && !own[I(n, B)] && \
     knows[I(n, B)] < knows[I(0, B)] && !knows[I(n, B)])

inline on_answer(n, f, type, yes)
{
    wait[n] = wait[n] & (7 - BIT(f));
    busy[n] = busy[n] | yes;
    if
    :: st[n] == SURES && !wait[n] ->
        more[A] = (has[n] & 1 -> 0 : more[A]);
        more[B] = (has[n] & 2 -> 0 : more[B]);
        st[n] = ASKS
    :: type == HELDED && !wait[n] && busy[n] -> over(n)
    :: type == HELDED && !wait[n] && !busy[n] -> kill(n)
    :: else
    fi
}

inline receive(n, f, type, r, a, m, known, hops)
{
    if
    :: type == REQUEST -> on_request(n, r, a, m, known, hops)
    :: type == TRANSFER -> on_transfer(n, f, r, a, m, known, hops)
    :: type == REFUSED -> on_refused(n, r, a)
    :: type == SETTLED -> on_settled(n, f, r, a)
    :: type == HELD ->
        send(n, f, HELDED, 0, (mode[n] == READ && (has[n] & a)), 0, 0, 0)
    :: type == RECALL ->
        if
        :: FAULT != NO_DATA && UNDER_WAY(n, a) -> asker[n] = f + 1; about[n] = a
        :: else -> send(n, f, RECALLED, 0, 0, 0, 0, 0)
        fi
    :: type == BURY -> on_bury(n, f, a)
    :: else -> on_answer(n, f, type, (type == HELDED && a))
    fi
}

inline begin(n, r, m)
{
    left[n]--;
    kills = kills - (m == KILL -> 1 : 0);
    top[n] = r;
    at[n] = r;
    mode[n] = m;
    st[n] = PART;
    emit(n, n, BEGIN, r, m)
}

inline release(n)
{
    emit(n, n, RELEASE, top[n], 0);
    for (i : 0 .. 1) {
        if
        :: mode[n] == WRITE && (has[n] & BIT(i)) -> ver[i] = (ver[i] + 1) & 7
        :: else
        fi
    }
    over(n)
}

proctype Node(byte n)
{
    byte kind, region, what, how, late_move, hop;

end:
    do
    :: atomic { ALIVE && st[n] == IDLE && left[n] && !gone[I(n, A)] ->
        if
        :: begin(n, A, READ)
        :: begin(n, A, WRITE)
        :: kills -> begin(n, A, KILL)
        fi }
    :: atomic { ALIVE && st[n] == IDLE && left[n] && !gone[I(n, B)] ->
        if
        :: begin(n, B, READ)
        :: begin(n, B, WRITE)
        :: kills -> begin(n, B, KILL)
        fi }
    :: atomic { ALIVE && st[n] == IDLE && left[n] -> left[n] = 0 }
    :: atomic { ALIVE && st[n] == HOLDS -> release(n) }
    :: atomic { ALIVE && MAY_LOCATE(n) -> told = TOLD(0); hear(n, told) }
    :: atomic { ALIVE && GOES_ON(n) -> turn(n) }
    :: atomic { ALIVE && LATE(n, 0) -> settle(n, 0) }
    :: atomic { ALIVE && LATE(n, 1) -> settle(n, 1) }
    :: atomic { ALIVE && LATE(n, 2) -> settle(n, 2) }
    :: atomic { ALIVE && nempty(to[0 + n]) ->
        to[0 + n] ? kind, region, what, how, late_move, hop;
        receive(n, 0, kind, region, what, how, late_move, hop);
        kind = 0; region = 0; what = 0; how = 0; late_move = 0; hop = 0 }
    :: atomic { ALIVE && nempty(to[3 + n]) ->
        to[3 + n] ? kind, region, what, how, late_move, hop;
        receive(n, 1, kind, region, what, how, late_move, hop);
        kind = 0; region = 0; what = 0; how = 0; late_move = 0; hop = 0 }
    :: atomic { ALIVE && nempty(to[6 + n]) ->
        to[6 + n] ? kind, region, what, how, late_move, hop;
        receive(n, 2, kind, region, what, how, late_move, hop);
        kind = 0; region = 0; what = 0; how = 0; late_move = 0; hop = 0 }
    od
}

#define REST(n) (st[n] == IDLE && !left[n] && !asker[n])

init
{
    atomic {
        own[I(0, A)] = 1;
        own[I(0, B)] = 1;
        for (i : 0 .. 2) { left[i] = OPS }
        run Node(0);
        run Node(1);
        run Node(2)
    }
    /* Nothing moves any more. */
    timeout ->
#ifdef REPLAY
    skip
#else
    assert(REST(0) && REST(1) && REST(2))
#endif
}

#ifdef REPLAY
/* Violated, if the whole trace is a run of the model. */
active proctype Accepted()
{
end:
    pos == LENGTH -> assert(false)
}
#endif
