package dev.ashlar.server.cli;

import dev.ashlar.server.config.BuildVersion;
import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"ashlar " + BuildVersion.number().orElse("(unpacked classes)")};
  }
}
