package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.VersionEntry;

/** What a key holds in one of its versions. */
public sealed interface VersionRead {
  /** An object. */
  record Content(ObjectRead read) implements VersionRead {}

  /** A delete marker. It is the newest version of its key if no version was asked for. */
  record DeleteMarker(VersionEntry marker) implements VersionRead {}

  /** Neither: the bucket, the key or the version does not exist. */
  record Nothing() implements VersionRead {}
}
