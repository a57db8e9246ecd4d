package dev.ashlar.server.config;

import java.util.Optional;

/** The version of this build, as the manifest of its jar has it. */
public final class BuildVersion {
  private BuildVersion() {}

  /** Empty: the classes were not packed into a jar. */
  public static Optional<String> number() {
    return Optional.ofNullable(BuildVersion.class.getPackage().getImplementationVersion());
  }
}
