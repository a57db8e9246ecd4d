package dev.ashlar.bench.options;

import picocli.CommandLine.Option;

/** How many do the same at once, each with one request on its way. */
public final class ClientsOption {
  @Option(
      names = "--clients",
      paramLabel = "N",
      converter = CountArgument.class,
      defaultValue = "16",
      description = "Number of clients, each with one request in flight (default: 16).")
  private int clients = 16;

  public int clients() {
    return clients;
  }
}
