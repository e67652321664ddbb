"""The parts of a feature's declaration. Data only: the settings import it before Django can import a model or a view.

A dotted name stands for what is imported when it is first used. An entry's `after` names the entry of another feature
that it is listed behind; `console/kit/features/order.py` has the rule.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.hook import Hook
from console.kit.features.table import FeatureTable
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb


class Database(StrEnum):
    """Which database holds an app's rows: the console's own, or that of each cluster."""

    CONSOLE = "console"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class RouteModule:
    """The addresses of one module of routes below `prefix`, for example `topics/`; an empty prefix is the top."""

    prefix: str
    module: str


@dataclass(frozen=True, slots=True)
class PushedPage:
    """A page with a websocket, as `{% block live_page %}` of its template names it, and the channel groups it hears.

    A group that differs by right is a function of whether the person may operate. `of_name` makes the group of one
    object's page (`topic:orders`), or returns None for a name no object can have; `resource` is what that object is.
    `names_all`: only a person who sees all names may listen. `is_only_news`: the groups carry no names, so everybody
    may hear them. `sorted_rows` is the kind of row by whose figures the page may be sorted.
    """

    name: str
    groups: tuple[str | Callable[[bool], str], ...] = ()
    of_name: Callable[[str], str | None] | None = None
    resource: Resource | None = None
    names_all: bool = False
    is_only_news: bool = False
    sorted_rows: str = ""


@dataclass(frozen=True, slots=True)
class Socket:
    """A websocket below the console's address. `consumer` is the dotted name of its `PersonSocket`."""

    path: str
    consumer: str


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row that pages show, with the element id `<name>-<primary key>`.

    `renderer` is the dotted name of a `Renderer` (`console/kit/live/rows.py`).
    """

    name: str
    renderer: str


class Section(StrEnum):
    """The groups of entries in the sidebar, in its order, with their headings."""

    TOP = ""
    DATA = "Data"
    CLUSTER = "Cluster"
    OBSERVE = "Observe"
    SECURITY = "Security"
    ADMIN = "Admin"


class SidebarEntry(Enum):
    """The entries of the sidebar, in its order. The pages of one entry are tabs of each other."""

    OVERVIEW = ("Overview", Section.TOP)
    TOPICS = ("Topics", Section.DATA)
    GROUPS = ("Consumer groups", Section.DATA)
    SCHEMAS = ("Schemas", Section.DATA)
    CONNECTORS = ("Connectors", Section.DATA)
    LINEAGE = ("Lineage", Section.DATA)
    BROKERS = ("Brokers", Section.CLUSTER)
    SERVICES = ("Services", Section.CLUSTER)
    METRICS = ("Metrics", Section.OBSERVE)
    ALERTS = ("Alerts", Section.OBSERVE)
    MESSAGE_CHECKS = ("Message checks", Section.OBSERVE)
    ACTIVITY = ("Activity", Section.OBSERVE)
    ACCESS = ("Access", Section.SECURITY)
    CHANGES = ("Changes", Section.ADMIN)
    #: Not in the sidebar but in the menu of the person.
    ACCOUNT = ("Account", None)

    def __init__(self, title: str, section: Section | None) -> None:
        self.title = title
        self.section = section


@dataclass(frozen=True, slots=True)
class EntryMark:
    """A count behind an entry's title, hidden while it is 0, as in `2 in trouble`.

    `count` is the dotted name of a function that takes the person's `Reach`, or, if the count `is_personal`, the
    person; it returns an int. An entry has one mark at most. `tier` is the collector's that knows what is counted, as
    of a `ApiRead`: while it cannot read the cluster, the count is unknown.
    """

    entry: SidebarEntry
    count: str
    words: str
    is_personal: bool = False
    tier: str = ""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page of a sidebar's entry, or of the account menu.

    `needs` names variables of the templates that have to be true. The link is for people who see some `resource`, or
    the process of that name. The link is the current one at its own address and `also_at` these places.
    """

    title: str
    route: str
    entry: SidebarEntry
    needs: tuple[str, ...] = ()
    resource: Resource | None = None
    process: str = ""
    also_at: tuple[str, ...] = ()
    after: str = ""

    @property
    def key(self) -> str:
        return self.route


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of an object of the header `of`, with `right` on it: a tab titled `shown`, if it is.

    The palette finds pages of topics by `title` and by `words`. The route takes the object's name; with `query` it is
    a list, where that parameter has the text. `why_not` is said to a person without the right, who sees no tab
    otherwise.
    """

    title: str
    route: str
    right: Right
    words: str = ""
    of: str = "topic"
    shown: str = ""
    query: tuple[str, str] | None = None
    why_not: str = ""
    after: str = ""

    @property
    def key(self) -> str:
        return self.route


@dataclass(frozen=True, slots=True)
class ObjectHeader:
    """The header of the pages of one kind of object, which templates draw with `{% object_header name thing %}`.

    `facts` is the dotted name of a function of the thing and the person's `Reach`; it returns `HeaderFacts`
    (`console/kit/features/headers.py`). The list of all such objects is at `list_route`. The actions are the verbs
    of the kind `of` that have a `button`; the tabs, those of this `name` that are `shown`.
    """

    name: str
    of: ObjectKind
    facts: str
    list_title: str
    list_route: str


@dataclass(frozen=True, slots=True)
class FormsOf:
    """Routes that are only posted to, and the route of the page with their forms.

    The page takes the same arguments as they do, or, if it `is_one_for_all`, none.
    """

    page: str
    routes: tuple[str, ...]
    is_one_for_all: bool = False


@dataclass(frozen=True, slots=True)
class SameAction:
    """An action of plans that rules about the actions `rules_of` concern as well."""

    action: str
    rules_of: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature of the console.

    A feature with `database` is an app; `is_app` makes an app of one without rows, for its commands, its schedule or
    its signals. Each template library is a module in the package's `templatetags`.
    """

    package: str
    is_app: bool = False
    database: Database | None = None
    addresses: tuple[RouteModule, ...] = ()
    template_libraries: tuple[str, ...] = ()
    pushed_pages: tuple[PushedPage, ...] = ()
    row_kinds: tuple[RowKind, ...] = ()
    sockets: tuple[Socket, ...] = ()
    #: Of the sidebar; pages and actions as the palette offers them; tabs and verbs of one object.
    links: tuple[PageLink, ...] = ()
    marks: tuple[EntryMark, ...] = ()
    places: tuple[PagePlace, ...] = ()
    commands: tuple[PagePlace, ...] = ()
    tabs: tuple[Tab, ...] = ()
    verbs: tuple[Verb, ...] = ()
    #: Of the pages of its objects.
    headers: tuple[ObjectHeader, ...] = ()
    forms: tuple[FormsOf, ...] = ()
    #: Routes that read-only mode does not refuse.
    always_open: tuple[str, ...] = ()
    same_actions: tuple[SameAction, ...] = ()
    #: Actions of plans: those that the form of a rule suggests; and those with a secret, whose plans cannot wait.
    suggested_actions: tuple[str, ...] = ()
    secret_actions: tuple[str, ...] = ()
    reads: tuple[ApiRead, ...] = ()
    actions: tuple[ApiAction, ...] = ()
    tables: tuple[FeatureTable, ...] = ()
    tiers: tuple[CollectorTier, ...] = ()
    hooks: tuple[Hook, ...] = ()

    @property
    def app_label(self) -> str:
        return self.package.rpartition(".")[2]
