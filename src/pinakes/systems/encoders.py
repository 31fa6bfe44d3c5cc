"""The encoders of systems: started by what a user says of them and by what the database has of them."""

from dataclasses import replace

from pinakes.database import Database
from pinakes.systems.base import SystemOptions
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.stored import list_encoders


def note_stored(database: Database, options: SystemOptions) -> SystemOptions:
    """The options with the names of the encoders that the database has vectors of, which `auto` goes by."""
    with database.read() as session:
        return replace(options, stored=list_encoders(session))


def start_encoder(name: str, options: SystemOptions) -> EncoderSession:
    """The encoder of that name at the precision, on the device and with the distance of the options."""
    return EncoderSession(
        name,
        precision=options.precision,
        device=options.device,
        distance=options.distance,
        stored=options.stored,
        tell=options.tell,
    )
