package dev.ashlar.server.cli.admin;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code ashlar admin metadata}. */
@Command(name = "metadata", description = "Lists and changes the metadata peers of a cluster.")
final class MetadataCommand implements Callable<Integer> {
  private static final String PEER = "HOST:PORT of the new peer, started with --metadata-join.";
  private static final String OLD = "Id or HOST:PORT of a peer.";

  @ParentCommand private @Nullable AdminCommand parent;

  @Command(name = "list", description = "Lists the metadata peers.")
  int list(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
      throws IOException, InterruptedException {
    return admin().show("metadata", isWatching);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return list(false);
  }

  @Command(name = "add", description = "Adds a peer, and returns when it is a member.")
  int add(@Parameters(paramLabel = "NEW", description = PEER) String peer)
      throws IOException, InterruptedException {
    return admin().changePeers("metadata-add", peer, null);
  }

  @Command(name = "remove", description = "Removes a peer.")
  int remove(@Parameters(paramLabel = "OLD", description = OLD) String peer)
      throws IOException, InterruptedException {
    return admin().changePeers("metadata-remove", peer, null);
  }

  @Command(name = "replace", description = "Replaces a peer by a new one.")
  int replace(
      @Parameters(paramLabel = "OLD", description = OLD) String old,
      @Parameters(paramLabel = "NEW", description = PEER) String peer)
      throws IOException, InterruptedException {
    return admin().changePeers("metadata-replace", old, peer);
  }

  private AdminCommand admin() {
    return Objects.requireNonNull(parent);
  }
}
