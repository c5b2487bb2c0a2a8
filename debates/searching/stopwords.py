"""Words that say nothing of what a text is about."""

import re

LONGEST_SHORT = 3
_STOP_WORDS = {
    "en": """
        a about above according actually after again against all almost also although always am among an and
        another any are argue argument as at away back be because become been before being believe believes best
        better between beyond both but by can cannot claim come could debate did do does doing done down during
        each either else end enough even ever every few first for forever from get give go good had has have
        having he her here him his how however i idea if in instead into is it its itself just keep know less
        let like made make makes many may maybe me mean means might more moreover most motion much must my need
        needs never new no nobody none nor not nothing now of off often on once one only opponent or other
        others ought our out over own people perhaps point put question quite rather really right said same say
        says see shall she should show shows simply since so some something still such sure take than that the
        their them themselves then there therefore these they thing things think this those though thus time to
        too true truly under unless until up upon us use used very want was way we well were what whatever when
        where whether which while who whole whom whose why will with within without would wrong yes yet you your
        yours
    """,
    "uk": """
        а або адже аж але без би бо був буде будемо будуть була були було бути більш більше в вам варто вас ваш
        ваша ваше ваші весь вже ви власне вона вони воно все всі всіх втім від він далі даними дані для до добре
        дуже ж з за завжди замість занадто зараз згідно зі й його кожен коли краще крім куди лише людей люди ма
        мають має мене мені ми може можна можуть моя між мій на навіть над нам нас наш наша наше не нема немає
        необхідно ну ні нібито ніколи ніхто нічого о об один одна однак одне окрім опонент от отже перед по
        повинен повинна повинне повинні потрібно потім при про просто проте проти під після саме своє свої свій
        себе слід собі стати так така таке такий такі там те теж тепер ти тим тих то тобто тоді той том тому
        треба тут у усе усі хай хоча хто це цей цим цих цього ця ці цієї час через чи чого чому що що-небудь щоб
        як яка яке який якого якщо які є і із інше інші їм їх їхній її
    """,
    "ru": """
        а без более больше будем будет будто будут бы был была были было быть в вам вас ваш ваша ваше ваши ведь
        весь во вот все всегда всего всей всех вы где да даже данные данным для до должен должна должно должны
        его ее если есть еще же за зачем здесь и из или им имеет именно иметь иначе их к каждый как какая какие
        какой когда кого которая которого которое которые который кроме кто куда ли лишь лучше людей люди между
        менее меня мне много может можно мой моя мы на над надо нам нас наш наша наше не него нее нельзя нет ни
        никогда никто ничего но ну нужно о об обо один одна однако одно он она они оно оппонент от ото очень
        перед по под пока после потом потому почему при про просто против раз разве с сам сама свое свои свой
        своя себе себя сейчас следует слишком со согласно стать стоит так такая такие такой там тебе тебя тем
        теперь то тогда того тоже той только том тот ту тут ты у уже хорошо хоть хотя чего чем что чтобы чье эта
        эти этим этих это этого этой этом этот эту я
    """,
}
_SETS = {code: frozenset(words.split()) for code, words in _STOP_WORDS.items()}
_CONTRACTION = re.compile(r".*(?:n't|'(?:m|re|ve|ll|d))")


def is_stop_word(word: str, code: str) -> bool:
    """In a language whose stop words are unknown, every short word, unless it is written without spaces."""
    bare = word.casefold().replace("’", "'").replace("ё", "е").removesuffix("'s")
    if code not in _SETS:
        return len(bare) <= LONGEST_SHORT and bare < "\u2e80"
    return len(bare) < 2 or bare in _SETS[code] or bool(code == "en" and _CONTRACTION.fullmatch(bare))
