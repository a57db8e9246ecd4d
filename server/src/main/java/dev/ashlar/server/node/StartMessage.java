package dev.ashlar.server.node;

import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.config.MetadataFolders;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.transport.tls.PortTls;
import java.io.PrintStream;
import java.nio.file.FileStore;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a user needs to know once the server is ready. */
final class StartMessage {
  private final ServerOptions options;
  private final List<Profile> profiles;
  private final RootCredential credential;
  private final String codec;
  private final int drivesMissing;
  private final List<FolderStatus> metadataFolders;
  private final Protection protection;
  private final @Nullable PortTls tls;

  StartMessage(
      ServerOptions options,
      List<Profile> profiles,
      RootCredential credential,
      String codec,
      int drivesMissing,
      List<FolderStatus> metadataFolders,
      Protection protection,
      @Nullable PortTls tls) {
    this.options = options;
    this.profiles = List.copyOf(profiles);
    this.credential = credential;
    this.codec = codec;
    this.drivesMissing = drivesMissing;
    this.metadataFolders = metadataFolders;
    this.protection = protection;
    this.tls = tls;
  }

  /**
   * @param terminal whether a person reads it: only then a fresh secret is shown
   */
  void print(PrintStream out, boolean terminal) {
    out.println("Ashlar is ready");
    printPort(out, "S3", options.service().listen(), "");
    printPort(out, "Management", options.service().managementListen(), "/health");
    printTls(out, tls);
    List<Path> folders = options.dataFolders();
    out.println(
        "  Data         " + data(profiles, folders.size(), devices(folders), drivesMissing));
    if (!protection.holdsAllShards()) {
      out.println("               " + text(protection));
    }
    out.println("  Metadata     " + metadata());
    out.println("  Codec        " + codec);
    out.println("  Sizes        " + options.sizes().told());
    out.println("  Credentials  " + credential.told());
    if (credential.fresh() && terminal) {
      out.println("               secret key " + credential.secretKey() + " (shown this once)");
    }
    String endpoint = options.service().listen().getFirst().toString();
    out.println("  Try          " + credential.awsLine(options.service().region(), endpoint));
    out.flush();
  }

  /** The addresses of a port, with a path that tells something. */
  static void printPort(PrintStream out, String name, List<PortAddress> addresses, String path) {
    String label = name;
    for (PortAddress each : addresses) {
      out.printf("  %-12s %s%s%n", label, each, path);
      label = "";
    }
  }

  static void printTls(PrintStream out, @Nullable PortTls tls) {
    if (tls != null) {
      out.printf("  %-12s by %s, certificate until %s%n", "TLS", tls.provider(), tls.validUntil());
    }
  }

  /** Of objects that would not survive what they are to survive. */
  static String text(Protection protection) {
    return !protection.known() || protection.debtBlobs() == 0
        ? "SOME OBJECTS MAY BE MISSING SHARDS: the check is still running"
        : protection.debtBlobs()
            + " BLOBS ARE MISSING SHARDS: they tolerate fewer losses until repair is done";
  }

  /**
   * What the drives are, and what they survive: the least of all profiles.
   *
   * @param devices that the drives are on
   * @param missing drives that could not be opened
   */
  static String data(List<Profile> profiles, int drives, int devices, int missing) {
    int parity = profiles.stream().mapToInt(Profile::parityShards).min().orElse(0);
    int needed = profiles.stream().mapToInt(Profile::dataShards).min().orElse(1);
    StringBuilder text = new StringBuilder();
    text.append(drives).append(drives == 1 ? " drive, " : " drives, ");
    text.append(profiles.stream().map(Profile::toString).collect(Collectors.joining(" and ")));
    if (parity == 0) {
      boolean isAny = profiles.stream().anyMatch(each -> each.parityShards() > 0);
      text.append(isAny ? ": NOT ALL" : ": NOTHING");
      text.append(" IS PROTECTED, the loss of a drive is the loss of its data");
    } else {
      text.append(": survives the loss of any ").append(parity);
      if (devices < drives) {
        text.append(" folders, but they share ");
        text.append(devices == 1 ? "one device" : devices + " devices");
      }
    }
    if (missing > 0) {
      text.append("; ").append(missing).append(" NOT AVAILABLE NOW");
    }
    if (missing > parity) {
      boolean isServing = drives - missing >= needed;
      text.append(isServing ? ": SOME" : ": MOST").append(" OBJECTS CANNOT BE READ");
    }
    return text.toString();
  }

  private String metadata() {
    List<Path> folders = options.metadataFolders();
    int peers = folders.size();
    if (peers == 1) {
      return folders.get(0) + " only: lost with that folder";
    }
    String text = peers + " folders: survives the loss of any " + peers / 2;
    int devices = devices(folders);
    return (devices == peers ? text : text + " folders, but they share " + devices + " device(s)")
        + notWhole();
  }

  private String notWhole() {
    StringBuilder text = new StringBuilder();
    for (FolderStatus status : metadataFolders) {
      switch (status.standing()) {
        case LEFT_OUT ->
            text.append("\n               ")
                .append(status.folder())
                .append(" IS LEFT OUT: ")
                .append(status.reason());
        case REBUILDING ->
            text.append("\n               ").append(status.folder()).append(" is being rebuilt");
        case MEMBER -> {}
      }
    }
    return text.toString();
  }

  private static int devices(List<Path> folders) {
    return new HashSet<FileStore>(MetadataFolders.devices(folders).values()).size();
  }
}
