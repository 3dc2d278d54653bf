"""Meanings of words in column names, in English, German, French and Spanish."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

__all__ = ["Meaning", "meanings", "words_of"]


class Meaning(NamedTuple):
    """A meaning that a name can have.

    Attributes:
        role: `"identifying"`, `"number"` (of a record), `"person"` (whose rows they are),
            `"quasi-identifying"`, `"sensitive"`, `"target"`, `"design"` (of a survey).
        says: The word for it in a reason.
        words: Whole words with this meaning.
        stems: Beginnings of words; those of six letters and more count anywhere in a word.
        strong: Whether it counts more than a sensitive meaning in the same name, as in "age at diagnosis".
        place: Whether it is about a place or an organisation, whose name does not identify a person.
        alone: Words with this meaning if the name has no other word.
    """

    role: str
    says: str
    words: str
    stems: str = ""
    strong: bool = False
    place: bool = False
    alone: str = ""


_IDENTIFYING = [
    Meaning("identifying", "e-mail", "email mail emails correo courriel", "e_mail"),
    Meaning(
        "identifying",
        "phone",
        "phone tel fax mobile cell handy movil telefono telefon",
        "telephon phonenumb telefonn mobiltel",
    ),
    Meaning(
        "identifying",
        "an official number",
        "ssn ssnr svnr sin nin nhs nss dni nie nif curp cpf",
        "socialsec sozialvers passport reisepass ausweis pasaporte passeport drivers driverlic",
    ),
    Meaning(
        "identifying",
        "a person's name",
        "name names maiden surname forename nom prenom apellido "
        "apellidos nombre nombres vorname nachname firstname lastname fullname username user login",
        "surname firstnam lastnam fullnam nachnam vornam familienname username prenom apellido",
        alone="first last middle prefix suffix",
    ),
    Meaning(
        "identifying",
        "address",
        "address addr street strasse rue calle adresse direccion domicilio hausnummer lat lon lng "
        "latitude longitude latitud longitud ip mac url website homepage",
        "adress address strasse geocoord coordin",
    ),
    Meaning(
        "identifying",
        "an account or document",
        "account iban bic konto cuenta compte mrn vin license licence certificate matricule",
        "accountn kontonu creditcard kreditkart insurancenum",
    ),
    Meaning(
        "identifying",
        "free text",
        "comment comments note notes remark remarks memo bemerkung anmerkung anmerkungen notiz kommentar "
        "commentaire comentario",
        "freetext freitext",
    ),
]
_NUMBERS = [
    Meaning("number", "id", "id ids uid uuid guid key identifier kennung code hid hhid", "identif"),
    Meaning("number", "number", "number no nr num nummer numero index idx"),
    Meaning(
        "person",
        "person",
        "patient person subject member customer client user student participant employee insured "
        "kunde mitglied paciente cliente persona personne pat patnr patid pid",
        "patient versichert mitglied kundenn",
    ),
]
_QUASI = [
    Meaning(
        "quasi-identifying",
        "age",
        "age ages alter edad jahre agegr",
        "agegroup alters",
        strong=True,
    ),
    Meaning(
        "quasi-identifying",
        "birth",
        "birth dob born geb naissance nacimiento yob bdate",
        "birth geburt gebdat gebjahr naissanc nacimi",
        strong=True,
    ),
    Meaning(
        "quasi-identifying",
        "ZIP code",
        "zip zipcode plz postal postcode cp postleitzahl codepostal",
        "postal postcod postleit zipcod codepost",
        strong=True,
    ),
    Meaning(
        "quasi-identifying",
        "sex",
        "sex gender geschlecht sexe sexo genre genero gend",
        "geschl",
        strong=True,
    ),
    Meaning(
        "quasi-identifying",
        "race or origin",
        "race raza ethnic ethnicity origin herkunft origine origen foreign foreigner immigrant",
        "ethn nationali citizen staatsang staatsb auslaend migrat",
        strong=True,
    ),
    Meaning(
        "quasi-identifying",
        "place",
        "country land pays pais county city town village region area district municipality borough "
        "province provincia provinz bundesland canton kanton kreis stadt ort ville ciudad municipio "
        "commune gemeinde location birthplace fips neighborhood neighbourhood "
        "urbrur urban rural dist prov reg",
        "countr county region distri municip gemeind wohnort landkreis departement",
        strong=True,
        place=True,
    ),
    Meaning("quasi-identifying", "place", "state states staat estado etat", place=True),
    Meaning(
        "quasi-identifying",
        "date",
        "date datum fecha year month day weekday jahr monat annee mois mes ano timestamp datetime",
        "timestam",
        strong=True,
    ),
    Meaning(
        "quasi-identifying",
        "organisation",
        "facility hospital clinic school employer company department ward university firma schule "
        "krankenhaus klinik arbeitgeber hopital ecole entreprise escuela empresa organization "
        "organisation",
        "facilit hospit univers krankenh arbeitgeb",
        place=True,
    ),
    Meaning(
        "quasi-identifying",
        "stay",
        "stay admission admitted discharge discharged visit emergency aufnahme entlassung",
        "admiss discharg aufenthalt",
    ),
    Meaning(
        "quasi-identifying",
        "marital status",
        "marital married civil hhcivil familienstand zivilstand spouse personal marst",
        "marital marriag familienst famstand matrimon estadocivil etatcivil",
    ),
    Meaning(
        "quasi-identifying",
        "family",
        "family household hh hhsize hhsz children kids dependents kinder enfants "
        "hijos famille familia haushalt housing residence tenure",
        "depend househol haushalt children residen wohnsit",
    ),
    Meaning(
        "quasi-identifying",
        "education",
        "education educ edu school degree schooling diploma bildung abschluss studies etudes estudios ausb "
        "grade qualification",
        "educat bildung schulab diplom escolar",
    ),
    Meaning(
        "quasi-identifying",
        "work",
        "job work working worker workclass occupation occ profession employment empl industry sector "
        "position beruf arbeit emploi metier trabajo empleo ocupacion profesion title hours",
        "occupat profess employ workcl beruf branche ocupac",
    ),
    Meaning(
        "quasi-identifying", "relationship", "relationship relation relat beziehung", "relationsh"
    ),
    Meaning("quasi-identifying", "rooms", "rooms bedrooms zimmer habitaciones pieces"),
    Meaning(
        "quasi-identifying",
        "dwelling",
        "dwelling house roof wall walls floor water toilet sanitation electcon electricity heating fuel "
        "wohnung dach logement vivienda",
        "dwelling electric sanitat",
    ),
    Meaning("quasi-identifying", "language", "language sprache langue idioma lengua", "languag"),
    Meaning(
        "quasi-identifying", "body", "height weight bmi groesse gewicht taille poids altura peso"
    ),
]
_SENSITIVE = [
    Meaning(
        "sensitive",
        "health",
        "illness disease icd icd9 icd10 drg mdc health medical medication drug drugs treatment therapy "
        "symptom symptoms condition hiv aids cancer disability pregnancy abortion mortality severity "
        "procedure disposition insurance blood death cause krank maladie sante salud enfermedad "
        "krankheit befund behandlung enfermo ill",
        "diagn diseas illnes medica treatm therap symptom disabil krankh behinder enfermed malad "
        "healthc mortali surg allerg pregnan abort",
    ),
    Meaning(
        "sensitive",
        "money",
        "income salary wage wages pay earnings revenue capital credit credits debt loan savings checking "
        "balance wealth property charge charges cost costs payment expense expenses expend price amount "
        "rent tax inc einkommen gehalt lohn vermoegen schulden kredit revenu salaire ingreso ingresos "
        "sueldo salario renta deuda dette",
        "income salar einkomm einkom gehalt payment expend expens saving earning",
    ),
    Meaning(
        "sensitive",
        "religion",
        "faith church islam confession",
        "religi konfession glauben",
    ),
    Meaning(
        "sensitive",
        "politics",
        "party vote voted politics partei union gewerkschaft",
        "politi sindicat syndicat",
    ),
    Meaning("sensitive", "sexual life", "orientation", "sexual contracept"),
    Meaning(
        "sensitive",
        "law",
        "crime criminal conviction offense offence arrest verdict",
        "crimin convict straf verurteil delit",
    ),
]
_TARGETS = [
    Meaning("target", "class", "class target label outcome y klasse zielgroesse ziel classe clase")
]
_DESIGN = [
    Meaning(
        "design",
        "a survey weight",
        "fnlwgt pweight wgt weights hochrechnungsfaktor",
        "samplingw surveyw householdw personw hochrechn",
    )
]
_ALL = [*_IDENTIFYING, *_NUMBERS, *_QUASI, *_SENSITIVE, *_TARGETS, *_DESIGN]
_WORDS = [(meaning, frozenset(meaning.words.split()), meaning.stems.split()) for meaning in _ALL]
_SURVEY = frozenset(
    ["sampling", "sample", "survey", "design", "household", "person", "final", "expansion"]
)
_ANYWHERE = 6
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lower case and without accents.

    >>> words_of("BirthDate"), words_of("Größe_in-cm"), words_of("Prénom")
    (['birth', 'date'], ['groesse', 'in', 'cm'], ['prenom'])
    """
    # Long names do not help, and splitting them would take time.
    split = _CAMEL.sub(" ", unicodedata.normalize("NFC", name[:200]))
    plain = unicodedata.normalize("NFKD", split.lower().translate(_GERMAN))
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return re.findall(r"[a-z]+[0-9]*|[0-9]+", letters)


def meanings(name: str) -> list[Meaning]:
    """Return all meanings of a name.

    >>> [meaning.says for meaning in meanings("Age at diagnosis")]
    ['age', 'health']
    >>> [meaning.says for meaning in meanings("Geschl.")], meanings("zzz")
    (['sex'], [])
    """
    words = words_of(name)
    if len(words) > 1 and _SURVEY & {*words} and {*words} & {"weight", "weights", "wgt", "gewicht"}:
        return list(_DESIGN)
    if "." in name:  # Fam.stand
        words.append("".join(words))
    matching = []
    for meaning, whole, stems in _WORDS:
        if (len(words) == 1 and words[0] in meaning.alone.split()) or any(
            word in whole
            or word.rstrip("0123456789") in whole
            or any(
                word.startswith(stem) or (len(stem) >= _ANYWHERE and stem in word) for stem in stems
            )
            for word in words
        ):
            matching.append(meaning)
    return matching
