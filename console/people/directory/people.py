"""Who somebody is by the directory's word: found by one name, proved by a password, with groups."""

from console.people.directory.client import AwayError, DirectoryClient
from console.people.directory.configuration import DirectorySettings
from console.people.directory.messages import DirectoryEntry
from console.people.sso.bounds import GROUPS_TOLD_MAX, SUBJECT_LENGTH_MAX
from console.people.sso.people import Person, plain_name, printable

#: Groups that are asked for by a search; a directory has its own bound besides.
GROUPS_MAX = 900
#: By which RFC 2307's groups name their members.
_NAME = "uid"


def person_in(directory: DirectorySettings, name: str, password: str) -> Person | None:
    """Return the person; None for an unknown name or a wrong password alike. Raises AwayError, FileError."""
    if not name or not password or "\0" in name + password:
        return None
    with DirectoryClient(directory) as client:
        if directory.bind_dn and not client.bind(directory.bind_dn, directory.password):
            raise AwayError("the console's own login there is refused")
        entry = _entry_of(client, directory, name)
        if entry is None:
            return None
        groups = _groups_of(client, directory, entry)
        if not client.bind(entry.dn, password):
            return None
    return Person(_subject_of(directory, entry), plain_name(name), _shown(directory, entry) or name, groups)


def _entry_of(client: DirectoryClient, directory: DirectorySettings, name: str) -> DirectoryEntry | None:
    wanted = [directory.id_attribute, directory.shown_attribute, directory.member_of, _NAME]
    matches = [(attribute, name) for attribute in directory.user_attributes]
    also = ("objectClass", directory.user_class) if directory.user_class else None
    entries = client.find(directory.base, matches, also, wanted, most=1)
    if len(entries) > 1:
        raise AwayError("several entries have one name: BARNABAS_LDAP_USER_ATTRIBUTES must tell people apart")
    return entries[0] if entries and entries[0].dn else None


def _groups_of(client: DirectoryClient, directory: DirectorySettings, entry: DirectoryEntry) -> frozenset[str]:
    """Raises AwayError if they are not told in full: one that is left out could be one that takes away."""
    if not directory.group_base:
        names = entry.texts(directory.member_of)
    else:
        matches = [(directory.group_member, item) for item in _known_as(directory, entry)]
        groups = client.find(directory.group_base, matches, None, ["cn"], most=GROUPS_MAX)
        if len(groups) > GROUPS_MAX:
            raise AwayError(f"a person is in more than {GROUPS_MAX} groups")
        names = [text for group in groups for text in group.texts("cn")]
    if len(names) > GROUPS_TOLD_MAX:
        raise AwayError(f"a person is in more than {GROUPS_TOLD_MAX} groups")
    return frozenset(names)


def _known_as(directory: DirectorySettings, entry: DirectoryEntry) -> list[str]:
    """Return the group names by which the entry refers to the person: group names are case sensitive."""
    if directory.group_member.lower() != "memberuid":
        return [entry.dn]
    if names := entry.texts(_NAME):
        return names
    raise AwayError("an entry has no uid, by which memberUid names people: BARNABAS_LDAP_GROUP_MEMBER names another")


def _subject_of(directory: DirectorySettings, entry: DirectoryEntry) -> str:
    """Return the entry's stable id, which survives a rename and is never given to another person."""
    values = entry.attributes.get(directory.id_attribute.lower(), [])
    if len(values) != 1 or not values[0]:
        raise AwayError(f"an entry has not one {directory.id_attribute}; BARNABAS_LDAP_ID_ATTRIBUTE names another")
    try:
        text = values[0].decode("ascii")
    except UnicodeDecodeError:
        text = ""
    subject = text if text.isprintable() and text else values[0].hex()
    if len(subject) > SUBJECT_LENGTH_MAX:
        raise AwayError(f"{directory.id_attribute} is longer than {SUBJECT_LENGTH_MAX} characters")
    return subject


def _shown(directory: DirectorySettings, entry: DirectoryEntry) -> str:
    return printable((entry.texts(directory.shown_attribute) or [""])[0])
