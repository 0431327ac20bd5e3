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
VERBS = set("""abort accept accumulate acquire act adapt add address adjust advance aggregate agree alias align
    allocate allot allow amount annotate announce answer anticipate appear append apply apportion
    approximate archive arrange arrive ascend ask assemble assert assign assume attach attend
    average avoid balance become begin belong benchmark bin bind bisect block bootstrap bound break
    bring broadcast bucket bufferise bufferize build bundle cache calibrate call cancel canonicalise
    canonicalize cap capture carry cast catch cause chain change check choose chunk cite claim clamp
    classify clear clip close coalesce code collect combine come commit compare compile complain
    complete compress compute concatenate configure confirm conflict connect consider consist
    construct consume contain contend continue contribute control convert cool copy correspond cost
    count cover crash create cross cut deal deallocate decide declare decode decompose decompress
    dedent deduce deduplicate default define delay delegate delete deliver demand demangle densify
    deny depend deposit dequantise dequeue dereference derive descend describe deserialise
    deserialize deserve destroy destruct detach detect determine diff differ disable discard
    dispatch display distribute divide document dominate double download drain draw drop dump
    duplicate elect eliminate embed emit emulate enable encode encounter end enforce enlarge enqueue
    ensure enter enumerate equal erase escape establish estimate evaluate evict exceed exchange
    exclude execute exercise exhaust exist exit expand expect explain exploit exponentiate export
    expose express extend extract fail fall favour fence fetch fill filter finalise finalize find
    finish fit fix flag flatten flip flush fold follow forbid force form format forward free fuse
    fuzz gain gather generate get give go grant group grow guarantee guard halve hand handle happen
    hash help hide hint hoist hold host hurt identify ignore implement imply import improve include
    increase indent index indicate infer inherit initialise initialize inline insert inspect install
    instantiate intend interact interleave intern interpret interrupt intersect introduce invalidate
    invert invoke issue iterate join judge jump justify keep know lack launch lay lead leak leave
    legalise legalize let lex lie lift limit linearise linearize link list listen live load locate
    lock log look lose lower maintain make mangle map mark mask match materialise materialize mean
    measure meet mention merge mimic minimise minimize mirror miss mix model modify move multicast
    multiply mutate name narrow need negate nest normalise normalize note notify number obey observe
    obtain occupy occur offer offset omit open optimise optimize order outlast outline outlive
    outnumber overflow overlap overwrite owe own pace pack pad pair parallelise parallelize parse
    partition pass pay peek peel perform permit permute persist perturb pick place plan plot point
    poison poll pool pop populate precede predict prefer prefetch prepare prepend preserve prevent
    print prioritise prioritize probe proceed process produce profile promise promote propagate
    protect prove provide prune publish pull push put quantise query queue quit quote raise
    randomise randomize rank rate reach read realise realize reallocate rearrange reassociate
    rebuild receive recognise recognize recompute record recover recur recurse redirect reduce refer
    refill refine refuse register regroup reinterpret reject relate relax release reload relocate
    rely remain rematerialise rematerialize remember remove rename render renormalise renormalize
    reorder repeat replace replicate report represent request require rescale resemble reserve reset
    reshape resize resolve rest restore restrict resume retain rethrow retire retrieve return reuse
    reveal reverse rewrite rise rotate round rule run sample sanitise sanitize satisfy saturate save
    say scale scan scatter schedule score search see seed seem select send separate sequence
    serialise serialize serve set shape share shift show shrink signal simplify simulate sink sit
    skip sleep slide solve sort span sparsify specialise specialize specify spell spill splat split
    spread square squeeze stage stall stand start state stay steal step stop store stream strip
    submit subscribe subsume subtract suffice suit sum summarise summarize supply support suppress
    surround survive suspect suspend swap sweep switch swizzle synchronise synchronize tabulate tag
    take target tear tell terminate test throttle throw tie tile time toggle tokenise tokenize
    tolerate touch trace track transfer transform translate transpose trap traverse treat trigger
    trim truncate try tune turn type unblock underflow undo unescape unfold unify unlock unmask
    unpack unpoison unroll unswizzle unzip update upload use validate vanish vary vectorise
    vectorize verify view violate visit wait wake walk want warn weigh widen win wire work wrap
    write yield zero zip""".split())

# Verbs whose third person is a plural noun as well: finite only with an object behind it.
NOUNS = set("""address advance alias amount answer approximate average balance benchmark bin block bound break
    bucket bundle cache call cap cast chain change chunk close code control copy cost count cover
    cross cut default delay demand display document double download draw end escape estimate
    exchange export fall fence filter flag fold force form format free gain gather grant group guard
    hand hash help hint host import indent index install issue judge jump launch lead lift limit
    link list live load lock log look map mark mask match merge mirror miss mix model move name
    narrow need nest note number offer offset open order overflow overlap pack pad pair pass peel
    permute place plan plot point poison pool print probe process promise prune pull push query
    queue quote raise rank rate read record reduce register release repeat report request reserve
    reset rest rise round rule run sample scale scatter schedule score search seed sequence set
    shape share shift shrink signal sink sleep slide sort span spell spill splat split spread square
    stage stall stand start state step stop store stream strip sum supply support swap sweep switch
    tag target test tie tile time touch trace track transfer turn type underflow upload use view
    wait walk want win work wrap write yield zero""".split())

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
