# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decides whether the first sentence of a comment has a main verb, by word lists.

The check reads a sentence from left to right. A word such as "that", "which" or "when" opens a
subordinate clause, and the next finite verb belongs to that clause. A finite verb with no clause
open is the main verb. "Those of the operands that are there" therefore has no main verb, and "What
is stored stays" has one. Participles ("advanced by") and infinitives ("to read") are not finite.
"""

import re

# Openings that the comments of this project may use only in a sentence with a main verb.
FRAGMENT_OPENINGS = ("Of", "Those", "The same", "What", "Whether", "Which", "Why", "How many", "As many",
                     "As much", "As", "Nothing", "One of")

# Finite whatever stands around them.
AUXILIARIES = set("""is are was were has have had does do did can could may might must shall should will would
    isn't aren't wasn't weren't hasn't haven't doesn't don't didn't can't cannot couldn't mustn't won't wouldn't
    needn't it's that's there's they're we're we've let's""".split())

# Verbs whose third person is not a plural noun in this code base.
VERBS = set("""accept add advance agree allocate allow apply appear append arrive ask assemble assert assign
    assume attach avoid become begin belong bind bound bring broadcast build call cancel carry cause change check
    choose claim classify clear clip collect combine come commit compare compile complete compute concatenate
    consist consider construct consume contain continue contribute convert correspond cover create deal decide
    declare decode deduce define delete deliver depend deposit derive describe destroy detect determine differ
    disable discard dispatch distribute divide drain drop emit emulate enable encode end ensure enter enumerate
    equal erase establish evaluate exceed execute exist expand expect explain exploit expose express extend
    extract fail fetch fill find finish fit flush fold follow forbid forward free fuse gather generate get give
    go grow guarantee handle happen hoist hold identify ignore implement imply include increase indicate
    infer inherit initialise initialize insert inspect instantiate interpret introduce invalidate invoke issue
    join keep know lack lay lead leave lead let lie limit list listen live locate lose lower maintain make
    map materialise materialize mean measure meet mention merge mirror modify move multiply name need negate
    normalise normalize notify obey observe obtain occupy occur offset omit open optimise optimize own pack pad
    parse partition pass perform permute persist pick place point poll populate precede predict prefer prefetch
    prepare preserve prevent print proceed process produce propagate protect prove provide publish pull
    push put quantise raise reach read rebuild receive recognise recognize recompute recover reduce refer refuse
    register reinterpret reject release rely remain remember remove rename render reorder repeat replace report
    represent request require reserve reset reshape resolve rest restore restrict retain return reuse reverse
    rewrite rotate round run satisfy save say scale scan scatter search see seem select send separate serialise
    serialize serve set share shift show shrink sit simplify skip sleep slide solve sort span spell split spread
    stand start stay stop store stream subtract suffice support surround survive swap switch synchronise
    synchronize take tell terminate test throttle touch track transfer transform translate transpose traverse
    treat trigger truncate try turn unpack unroll update use validate vanish vary verify view visit wait walk
    want warn widen work wrap write yield zero lock unlock record multicast load copy step count stage block
    tile cost sum pair group order bound mask shape hash cut peel pool tune profile interleave swizzle
    pace lift sink tag guard seed encode rank query queue stall mark fall rise break look hide help interact
    act address adapt adjust align annotate answer anticipate approximate archive arrange balance benchmark
    bundle cache cap capture cast catch close coalesce code come configure confirm connect control cool cross
    deduplicate default delay demand deny deserve diff display document double duplicate elect eliminate embed
    encounter enforce enlarge exclude exchange exercise exit export favour filter flag flatten force form format gain
    grant halve hint host hurt import improve inline install intend interrupt iterate judge jump justify
    leak legalise legalize link log match mimic minimise minimize miss mix model mutate narrow nest note number offer
    outline outlive overlap overwrite owe plan plot promise promote quote realise realize recur redirect refine
    relate relax relocate resemble resize resume retrieve reveal rule sample schedule signal simulate
    specialise specialize specify state steal strip submit suit summarise summarize supply suppress suspect sweep tabulate
    target tie time toggle trace trap trim type unify violate wake weigh win exhaust intersect lex tokenise squeeze
    invert index amount dump differ round flip fix free hand lay wire crash abort throw report compress dequantise
    undo dereference contend conflict complain clamp quit outnumber retire decompose bufferize bufferise accumulate acquire aggregate alias announce ascend average bin bisect bootstrap bucket calibrate
    canonicalise canonicalize chain chunk cite deallocate decompress dedent delegate demangle densify dequeue descend
    deserialise deserialize destruct detach dominate download draw enqueue escape estimate evict exponentiate fence
    finalise finalize fuzz indent intern launch mangle outlast overflow peek permit perturb poison pop prepend
    prioritise prioritize probe prune randomise randomize rate reallocate rearrange reassociate recurse refill
    regroup reload rematerialise rematerialize renormalise renormalize replicate rescale rethrow sanitise sanitize
    saturate score sequence sparsify spill splat square subscribe subsume suspend tear tokenize tolerate unblock
    underflow unescape unfold unmask unpoison unswizzle unzip upload zip
    linearise linearize vectorise vectorize parallelise parallelize allot apportion attend pay""".split())

# Verbs whose third person is a plural noun as well: finite only with an object behind it.
NOUNS = set("""block tile stage row column copy load store step count value group panel pair record result sum
    word bit byte mask shape order size bound cost index rank chunk slice warp thread lane head batch element field
    table list segment unit product operand term work place part hash tag call use test place name point
    scale offset register view list map limit process share support track transfer change stream
    walk read write span split run state type time number model format sample schedule plan
    pass reduce process lock queue pool cast cap form code link target rate end start round set entry loop bundle
    cache control address trace cover permute need default double line host document answer amount benchmark
    display demand delay flag force function guard hint import export log mark match note offer
    query request rest reset reserve rule search seed sleep supply switch tie touch turn type want signal
    wait wrap zero report test step stop stand
    program array binding buffer kernel key message package path pattern patch point range root target cut
    exchange fall figure gain grant help issue jump look mix move overlap peel plot print promise
    push pull quote raise release repeat rise shift shrink sink slide sort spell
    spread stall strip sweep swap win yield advance approximate balance break close cross filter fold form free
    hand install judge lead lift live merge miss narrow nest open pack pad raise scatter gather mirror
    alias average bin bucket chain chunk download draw escape estimate fence indent launch overflow poison probe prune
    rate score sequence spill splat square underflow upload""".split()) & VERBS

# Verbs whose base form is an adjective or a part of a compound as well.
ADJECTIVES = set("""clear complete equal free live long lower open own separate close direct dense even total
    build map forward reverse inverse return reset input output swizzle flat pad lex""".split())

DETERMINERS = set("""a an the this these those its their his her our your no each every any some all both either
    neither another such what whatever it them itself themselves one two three four eight exactly only
    nothing nobody something everything anything more less most least fewer enough zero how whether that
    not always never also""".split())

PREPOSITIONS = set("""of in on at by for from to with without within into onto over under between among
    across per through until till after before behind below above beside along around as like than and or
    nor but""".split())

# Open a subordinate clause.
SUBORDINATORS = set("""that which who whose whom where when while if unless whether because since although
    though once what whatever whichever why how until""".split())

# Stand between an auxiliary and the verb that it belongs to.
ADVERBS = set("not never always also only then still already again".split())

# "Then it takes" goes on with the main clause; "the rows it takes" opens another one.
CONNECTIVES = set("and or but then here there thus so otherwise now else therefore".split())

# These words say more about the noun before them; "what" and "whether" can also begin an object.
RELATIVES = set("that which who whose whom where when".split())

PRONOUNS = set("they we you i it he she who these those both all some".split())

TOKEN = re.compile(r"`[^`]*`|[A-Za-z][A-Za-z'’]*(?:-[A-Za-z]+)*|\d[\d.,]*|[,;:()]|[^\sA-Za-z`\d]+")


def first_sentence(text):
    """Returns the text up to the end of its first sentence: a full stop, a semicolon, or a colon
    behind more than one word."""
    text = re.sub(r"\b(e\.g|i\.e|cf|vs|etc)\.", r"\1", text)
    end = re.search(r"[.!?](?=\s+[^a-z\s]|\s*$)|;\s|(?<=\w)(?<!\binto):\s", text)
    while end and end.group().startswith(":") and len(text[:end.start()].split()) < 2:
        end = re.compile(r"[.!?](?=\s+[^a-z\s]|\s*$)|;\s").search(text, end.end())
    return text[:end.start()] if end else text


def _third_person(word):
    """Returns the verb whose third person `word` is, or None."""
    for ending, base in (("ies", "y"), ("es", ""), ("s", ""), ("sses", "ss")):
        if word.endswith(ending) and word[:-len(ending)] + base in VERBS:
            return word[:-len(ending)] + base
    return None


def _is_object(token):
    """Tells whether a word can begin the object of a verb."""
    if token is None:
        return False
    lower = token.lower()
    return (token.startswith("`") or lower in DETERMINERS - RELATIVES or token[0].isdigit()
            or (token[0].isalpha() and lower not in PREPOSITIONS | SUBORDINATORS | AUXILIARIES))


def _is_finite(tokens, index):
    """Tells whether the word at `index` is a finite verb."""
    word = tokens[index].lower().replace("’", "'")
    previous = tokens[index - 1].lower() if index else None
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    helper = tokens[index - 2].lower() if previous in ADVERBS and index > 1 else previous
    if word in AUXILIARIES:
        return helper not in AUXILIARIES
    if previous == "whose":
        return False
    verb = _third_person(word)
    if verb in NOUNS:
        if previous in DETERMINERS | PREPOSITIONS - {"and", "or", "but"} or (previous or "").isdigit():
            return False
        if index == 0:
            return _is_object(following)
        return following is not None and (
            following.startswith("`") or following.lower() in DETERMINERS - SUBORDINATORS)
    if verb:
        return previous not in {"a", "an", "the", "of", "its", "their"}
    if word in VERBS:
        if index == 0:
            return _is_object(following) and (word not in NOUNS or following.lower() in DETERMINERS)
        if previous in DETERMINERS - PRONOUNS | PREPOSITIONS - {"and", "or", "but"} | ADJECTIVES:
            return False
        if word in NOUNS | ADJECTIVES:
            plural = previous in PRONOUNS or re.search(r"[^su]s$|\)$", previous) is not None
            return following is not None and _is_object(following) and (
                plural or following.lower() in DETERMINERS)
        return helper not in AUXILIARIES
    return False


def _opens_clause(tokens, index):
    """Tells whether the "as" at `index` opens a clause: not in "such as" and "as well as", and of "as
    many as" only the second one."""
    around = [token.lower() for token in tokens[max(index - 2, 0):index + 4]]
    place = min(index, 2)
    if "such" in around[:place] or "well" in around:
        return False
    return "as" not in around[place + 1:]


def has_main_verb(sentence):
    """Tells whether a sentence has a finite verb outside its subordinate clauses.

    "Null if the pattern is dynamic" counts: a condition for a named value is a common contract."""
    if re.match(r"(Null|Empty|True|False) (if|when|unless)\b", sentence):
        return True
    tokens = TOKEN.findall(sentence)
    clauses = 0
    after_clause_verb = False
    for index, token in enumerate(tokens):
        word = token.lower()
        if token.startswith("`") or not token[0].isalpha():
            continue
        previous = tokens[index - 1].lower() if index else None
        if word in SUBORDINATORS or word == "as" and _opens_clause(tokens, index):
            clauses += 1
        elif word in {"it", "they", "we", "you"} and previous and previous not in (
                SUBORDINATORS | CONNECTIVES | {"as"}) and re.match(r"[`a-z]", previous):
            clauses += 1
        elif _is_finite(tokens, index):
            if clauses:
                clauses -= 1
                after_clause_verb = True
            elif after_clause_verb and previous in {"and", "or"}:
                continue
            else:
                return True
    return False


def fragment_opening(text):
    """Returns the opening of `text` that makes a fragment of it, or None where it has a main verb.

    "Whether" is always refused: a comment that begins with it describes a flag."""
    for opening in FRAGMENT_OPENINGS:
        if re.match(rf"{opening}\b", text):
            is_sentence = opening != "Whether" and has_main_verb(first_sentence(text))
            return None if is_sentence else opening
    return None
