package dev.ashlar.it.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Network namespaces of this machine, one per process of a cluster, on a bridge that the tests are
 * on too. Needs root. What is cut is cut silently: nobody is told that packets get lost.
 */
public final class Namespaces implements AutoCloseable {
  /** Belongs to nobody on the bridge. */
  private static final String NOBODY = "02:00:00:00:00:99";

  /** A connection gets some 200 KiB/s; where the kernel can, packets are late too. */
  private static final String SLOW_RATE = "1600kbit";

  private final String tag =
      Integer.toHexString(ThreadLocalRandom.current().nextInt(0x100, 0x1000));
  private final String network = "10.88." + ThreadLocalRandom.current().nextInt(250) + ".";
  private final List<String> names = new ArrayList<>();
  private final Thread cleanUp = new Thread(this::delete);

  /** Makes so many of them. */
  public Namespaces(int count) {
    Runtime.getRuntime().addShutdownHook(cleanUp);
    try {
      Commands.run("ip", "link", "add", bridge(), "type", "bridge");
      Commands.run("ip", "addr", "add", network + "1/24", "dev", bridge());
      Commands.run("ip", "link", "set", bridge(), "up");
      for (int i = 0; i < count; i++) {
        add(i);
      }
    } catch (AssertionError | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Why this machine has none; empty if it has. */
  public static String refusal() {
    if (!Commands.tried("id", "-u").output().equals("0")) {
      return "network faults need root";
    }
    try (Namespaces one = new Namespaces(1)) {
      one.isolate(0);
      return "";
    } catch (AssertionError | RuntimeException e) {
      return "network faults are not possible here: " + e.getMessage();
    }
  }

  private void add(int i) {
    String name = "ashlar-" + tag + "-" + i;
    names.add(name);
    Commands.run("ip", "netns", "add", name);
    Commands.run(
        "ip", "link", "add", link(i), "type", "veth", "peer", "name", "eth0", "netns", name);
    Commands.run("ip", "link", "set", link(i), "master", bridge());
    Commands.run("ip", "link", "set", link(i), "up");
    ip(i, "link", "set", "lo", "up");
    ip(i, "addr", "add", address(i) + "/24", "dev", "eth0");
    ip(i, "link", "set", "eth0", "up");
  }

  private String bridge() {
    return "ashb" + tag;
  }

  private String link(int i) {
    return "ash" + tag + "v" + i;
  }

  private void ip(int i, String... arguments) {
    List<String> command = new ArrayList<>(List.of("ip", "-n", names.get(i)));
    command.addAll(List.of(arguments));
    Commands.run(command.toArray(String[]::new));
  }

  /** Of the namespace, for the others and the tests. */
  public String address(int i) {
    return network + (10 + i);
  }

  /** What stands before a command that is to run there. */
  public List<String> enter(int i) {
    return List.of("ip", "netns", "exec", names.get(i));
  }

  /** Nothing gets from one to the other any more, nor back. */
  public void cut(int one, int other) {
    ip(
        one,
        "neigh",
        "replace",
        address(other),
        "lladdr",
        NOBODY,
        "dev",
        "eth0",
        "nud",
        "permanent");
    ip(
        other,
        "neigh",
        "replace",
        address(one),
        "lladdr",
        NOBODY,
        "dev",
        "eth0",
        "nud",
        "permanent");
  }

  public void mend(int one, int other) {
    ip(one, "neigh", "del", address(other), "dev", "eth0");
    ip(other, "neigh", "del", address(one), "dev", "eth0");
  }

  /** Nothing gets in or out any more. */
  public void isolate(int i) {
    Commands.run("ip", "link", "set", link(i), "down");
  }

  public void reconnect(int i) {
    Commands.run("ip", "link", "set", link(i), "up");
  }

  /** What comes out of it is slow: late where the kernel can do that, else little at a time. */
  public void slow(int i) {
    if (Commands.tried(tc(i, "netem", "delay", "80ms", "20ms", "rate", SLOW_RATE)).code() != 0) {
      Commands.run(tc(i, "tbf", "rate", SLOW_RATE, "burst", "16kb", "latency", "2s"));
    }
  }

  private String[] tc(int i, String... discipline) {
    List<String> command = new ArrayList<>(enter(i));
    command.addAll(List.of("tc", "qdisc", "replace", "dev", "eth0", "root"));
    command.addAll(List.of(discipline));
    return command.toArray(String[]::new);
  }

  public void fast(int i) {
    List<String> command = new ArrayList<>(enter(i));
    command.addAll(List.of("tc", "qdisc", "del", "dev", "eth0", "root"));
    Commands.run(command.toArray(String[]::new));
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(cleanUp);
    delete();
  }

  private void delete() {
    names.forEach(name -> Commands.tried("ip", "netns", "del", name));
    Commands.tried("ip", "link", "del", bridge());
  }
}
