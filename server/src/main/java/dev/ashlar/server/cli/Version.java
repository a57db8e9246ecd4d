package dev.ashlar.server.cli;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = Version.class.getPackage().getImplementationVersion();
    return new String[] {"ashlar " + (version == null ? "(unpacked classes)" : version)};
  }
}
