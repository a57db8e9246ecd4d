package dev.ashlar.it.cluster;

import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.FileBits;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Faults of one metadata node of several: a bit flips in a file that it has. */
final class RottenPeer {
  private static final String WHOLE = "\"standing\":\"MEMBER\",\"takesPart\":true";
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int LOOKS = 600;
  private static final int TRIES = 20;

  private final ClusterNodes nodes;
  private final Random random;
  private final Deck<Rot> kinds;

  /** What of a peer's folder may rot. */
  private enum Part {
    LOG("log_"),
    TERM("raft-meta"),
    VOTE("vote"),
    MARK("log-mark");

    private final String prefix;

    Part(String prefix) {
      this.prefix = prefix;
    }

    boolean isIn(Path file) {
      return file.getFileName().toString().startsWith(prefix);
    }
  }

  /**
   * A kind of fault.
   *
   * @param isDown whether the node is down when it happens; else it works
   */
  private record Rot(Part part, boolean isDown) {}

  RottenPeer(ClusterNodes nodes, Random random) {
    this.nodes = nodes;
    this.random = random;
    List<Rot> all = new ArrayList<>();
    for (Part part : Part.values()) {
      all.add(new Rot(part, true));
      all.add(new Rot(part, false));
    }
    kinds = new Deck<>(all, random);
  }

  /**
   * One fault, and then, with what that peer has from then on, the loss of another one. No kind
   * comes a second time before all have come.
   */
  List<Fault> next() {
    Rot rot = kinds.draw();
    NodeProcess rotten = random.nextBoolean() ? nodes.leader() : any(nodes.of("metadata"));
    NodeProcess other =
        any(nodes.of("metadata").stream().filter(node -> !node.equals(rotten)).toList());
    return List.of(
        new Fault(
            "a bit flips in " + rot.part + " of " + rotten + (rot.isDown ? ", down" : ", up"),
            0,
            () -> flip(rotten, rot),
            () -> startAgain(rotten)),
        new Fault("kill -9 of " + other, 0, other::kill, () -> startAgain(other)));
  }

  /** Whether each kind has come. */
  boolean isThrough() {
    return kinds.isThrough();
  }

  private NodeProcess any(List<NodeProcess> some) {
    return some.get(random.nextInt(some.size()));
  }

  private void flip(NodeProcess node, Rot rot) {
    if (rot.isDown) {
      node.kill();
    }
    for (int i = 0; i < TRIES; i++) {
      try {
        flip(node, rot.part);
        return;
      } catch (NoSuchFileException e) {
        ServerProcess.pause(PAUSE); // it works, and has renamed it meanwhile
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    throw new AssertionError("there is no " + rot.part + " of " + node);
  }

  private void flip(NodeProcess node, Part part) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(folder(node))) {
      files = all.filter(part::isIn).sorted().toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    if (files.isEmpty()) {
      throw new NoSuchFileException(part.name());
    }
    Path file = files.get(random.nextInt(files.size()));
    byte[] bytes = Files.readAllBytes(file);
    int used = bytes.length;
    while (used > 1 && bytes[used - 1] == 0) {
      used--; // logs are preallocated
    }
    int at = random.nextInt(used);
    FileBits.flip(file, at, random.nextInt(8));
    System.out.println("  flipped a bit of " + file.getFileName() + " at " + at + " of " + used);
  }

  private static Path folder(NodeProcess node) {
    return node.folder().resolve("metadata");
  }

  /** As an operator does: a folder that is refused is emptied, and comes from the others then. */
  private void startAgain(NodeProcess node) {
    if (node.isAlive()) {
      node.kill();
    }
    long refusals = refusals(node);
    node.start();
    if (!takesPart(node, refusals)) {
      System.out.println("  " + node + " is refused, and emptied");
      node.kill();
      ServerProcess.deleteRecursively(folder(node));
      node.start();
      if (!takesPart(node, refusals(node))) {
        throw nodes.failed(node + " is not rebuilt from the others");
      }
    }
  }

  /** Returns false as soon as it says that it does not. */
  private boolean takesPart(NodeProcess node, long refusalsBefore) {
    for (int i = 0; i < LOOKS; i++) {
      if (node.health().orElse("").contains(WHOLE)) {
        return true;
      }
      if (!node.isAlive() || refusals(node) > refusalsBefore) {
        return false;
      }
      ServerProcess.pause(PAUSE);
    }
    throw nodes.failed(node + " neither takes part nor says why");
  }

  private static long refusals(NodeProcess node) {
    return node.said().stream().filter(line -> line.contains("does NOT take part")).count();
  }
}
