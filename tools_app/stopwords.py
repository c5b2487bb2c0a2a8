"""Words that say nothing of what a text is about, in English, Ukrainian and Russian. Knows no framework."""

import re

_STOP_WORDS = """
a about above according after again against all almost also although always am among an and another any are as at be
because been before being between both but by can cannot could did do does doing during each either else even ever
every for from had has have having he her here him his how however i if in instead into is it its itself just many may
maybe me might more moreover most much must my neither no nobody none nor not nothing of often on one only opponent or
other others ought our out over perhaps quite rather really s shall she should simply since so some something still
such t than that the their them themselves then there therefore these they this those though thus to too under unless
until up upon us very was we were what whatever when where whether which while who whom whose why will with within
without would yet you your yours

а або адже аж але б без би бо був буде будемо будуть була були було бути більш більше в вам варто вас ваш ваша ваше
ваші вже ви вона вони воно все всі всіх втім від він де для до дуже ж з за завжди замість занадто зараз згідно зі й
його кожен коли крім куди лише ма мають має мене мені ми може можна можуть моя між мій на навіть навіщо над нам нас
наш наша наше не нема немає необхідно ні нібито ніколи ніхто нічого о об один одна однак одне окрім опонент отже перед
по повинен повинна повинне повинні потрібно потім при про просто проте проти під після саме своє свої свій себе слід
собі та так така таке такий також такі там те теж тепер ти тим тих то тобто тоді той том тому треба тут у усе усі хай
хоча хто це цей цим цих цього ця ці цієї через чи чого чому що що-небудь щоб як яка яке який якого якщо які є і із
інше інші їй їм їх їхній її

более больше будем будет будто будут бы был была были было быть ваши ведь весь во вот всегда всего всей всех вы где да
даже должен должна должно должны его ее если есть еще же зачем здесь и из или им имеет именно иметь иначе их к каждый
как какая какие какой ко когда кого которая которого которое которые который кроме кто куда ли лишь между меня мне
много может можно мой мы надо него нее нельзя нет ни никогда никто ним них ничего но ну нужно оба обо однако одно он
она они оно оппонент от ото очень под пока после потом потому почему раз разве с сам сама свое свои свой своя себя
сейчас следует слишком со согласно такая такие такой тебе тебя тем теперь тех тогда того тоже только тот ту ты уже
хоть хотя чего чем что чтобы чье эта эти этим этих это этого этой этом этот эту я
"""
# Of those who argue, whatever they argue about.
_ARGUING = """
argue argument believe believes best better beyond claim debate enough false first good idea keep know less let like
make makes motion need needs never new now own people point question right said say says see show shows sure think time
true truly use want way well wrong yes
вірно далі даними добре думаю краще людей люди час
бесспорно верно данным думаю лучше людей люди стоит хорошо
"""
_SET, ARGUING = frozenset(_STOP_WORDS.split()), frozenset(_ARGUING.split())
_CONTRACTION = re.compile(r"[a-z]{1,9}(?:n't|'(?:m|re|ve|ll|d))")


def is_stop_word(word: str) -> bool:
    bare = word.casefold().replace("’", "'").replace("ё", "е").removesuffix("'s")
    return bare in _SET or _CONTRACTION.fullmatch(bare) is not None
