package dev.ashlar.server.cli.admin;

import dev.ashlar.server.config.OptionTypes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** The nouns of {@code ashlar admin}. One that is given alone shows its page. */
final class Nouns {
  private Nouns() {}

  private abstract static class Noun implements Callable<Integer> {
    @ParentCommand private @Nullable AdminCommand parent;

    AdminCommand admin() {
      return Objects.requireNonNull(parent);
    }
  }

  /** A noun whose page is a list. */
  private abstract static class Listed extends Noun {
    private final String page;

    Listed(String page) {
      this.page = page;
    }

    @Command(name = "list", description = "Shows the list, as the command does without a verb.")
    int list(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
        throws IOException, InterruptedException {
      return admin().show(page, isWatching);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
      return list(false);
    }
  }

  /** What is changed, and whether to wait for the result. */
  private static final class Target {
    @Parameters(
        paramLabel = "TARGET",
        description = "Name of a node, or id of a drive (or its unique beginning).")
    private String name = "";

    @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE)
    private boolean isWatching;
  }

  /** Changes of a drive, or of all drives of a node. */
  private abstract static class Moved extends Listed {
    Moved(String page) {
      super(page);
    }

    @Command(
        name = "drain",
        description = "Moves all data off the target, which can then be removed.")
    int drain(@Mixin Target target) throws IOException, InterruptedException {
      return change("drain", target, "rebalance");
    }

    @Command(
        name = "undrain",
        description = "Cancels a drain: the target gets its share of the data again.")
    int undrain(@Mixin Target target) throws IOException, InterruptedException {
      return change("undrain", target, "rebalance");
    }

    @Command(
        name = "out",
        description = "Declares a down node or drive lost and rebuilds its data elsewhere.")
    int out(@Mixin Target target) throws IOException, InterruptedException {
      return change("out", target, "repair");
    }

    @Command(
        name = "in",
        description = "Takes a node or drive in again that is out: it gets its share of the data.")
    int in(@Mixin Target target) throws IOException, InterruptedException {
      return change("in", target, "rebalance");
    }

    private int change(String name, Target target, String progress)
        throws IOException, InterruptedException {
      int code = admin().change(name, target.name, null);
      return target.isWatching ? admin().watchProgress(progress, true) : code;
    }
  }

  @Command(name = "node", aliases = "nodes", description = "Lists nodes, and moves their data.")
  static final class Nodes extends Moved {
    Nodes() {
      super("nodes");
    }
  }

  @Command(
      name = "drive",
      aliases = "drives",
      description = "Lists drives with their use and state, moves their data, replaces them.")
  static final class Drives extends Moved {
    Drives() {
      super("drives");
    }

    @Command(
        name = "replace",
        description =
            "Gives the placement group slots of a drive to a new drive, and drains the old.")
    int replace(
        @Parameters(paramLabel = "OLD", description = "Drive id, or node with one drive.")
            String old,
        @Parameters(paramLabel = "NEW", description = "Drive id, or node with one drive.")
            String by,
        @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE) boolean isWatching)
        throws IOException, InterruptedException {
      int code = admin().change("replace", old, by);
      return isWatching ? admin().watchProgress("rebalance", true) : code;
    }

    @Command(
        name = "recall",
        description =
            "Takes replaced drives back that are mounted in their places again. Refused if data"
                + " that only the replacements hold would be lost.")
    int recall(
        @Parameters(
                paramLabel = "IDS",
                description =
                    "Drive ids, separated by commas; in a store in one process also folders.")
            String ids)
        throws IOException, InterruptedException {
      return admin().change("drive-recall", ids, null);
    }
  }

  @Command(
      name = "pg",
      aliases = "pgs",
      description = "Lists placement groups, those with the oldest debts first.")
  static final class PlacementGroups extends Listed {
    PlacementGroups() {
      super("pgs");
    }
  }

  @Command(
      name = "profile",
      aliases = "profiles",
      description = "Lists the profiles of a store, adds and removes some, chooses the default.")
  static final class Profiles extends Listed {
    private static final String NAME = "Name of a profile.";

    Profiles() {
      super("profiles");
    }

    @Command(
        name = "add",
        description = "Adds a profile. It cannot be changed later, only removed while unused.")
    int add(
        @Parameters(paramLabel = "NAME", description = "New name: up to 32 of A-Z, 0-9, _ and -.")
            String name,
        @Parameters(paramLabel = "K+M", description = "Data and parity shards, such as 8+3.")
            String shards,
        @Option(
                names = "--stripe-unit",
                paramLabel = "BYTES",
                converter = OptionTypes.SmallBytes.class,
                defaultValue = "0",
                showDefaultValue = Visibility.NEVER,
                description = "Strip size: a multiple of 4KiB up to 1MiB. Default: 16KiB.")
            int stripeUnit)
        throws IOException, InterruptedException {
      return admin()
          .change("profile-add", name, stripeUnit == 0 ? shards : shards + "@" + stripeUnit);
    }

    @Command(
        name = "default",
        description =
            "Makes a profile the default of new data. What is stored keeps the profile it has.")
    int setDefault(@Parameters(paramLabel = "NAME", description = NAME) String name)
        throws IOException, InterruptedException {
      return admin().change("profile-default", name, null);
    }

    @Command(
        name = "remove",
        description = "Removes a profile that no data and no incomplete upload has.")
    int remove(@Parameters(paramLabel = "NAME", description = NAME) String name)
        throws IOException, InterruptedException {
      return admin().change("profile-remove", name, null);
    }

    @Command(
        name = "move",
        description =
            "Begins to move objects to another profile, older versions included, while clients use"
                + " them. They keep their version, ETag and time.")
    int move(
        @Parameters(
                paramLabel = "SOURCE",
                arity = "1..*",
                description = "s3://BUCKET or s3://BUCKET/PREFIX.")
            List<String> sources,
        @Option(
                names = "--to",
                paramLabel = "NAME",
                required = true,
                description = "Name of a profile, or STANDARD for the default.")
            String to,
        @Option(
                names = "--pace",
                paramLabel = "BYTES",
                description =
                    "Maximum bytes per second that are read, such as 20MiB. Default: as"
                        + " --rebalance-rate, together with rebalancing.")
            @Nullable String pace)
        throws IOException, InterruptedException {
      for (String source : sources) {
        admin().change("profile-move", source, pace == null ? to : to + "@" + pace);
      }
      return 0;
    }

    @Command(name = "moves", description = "Shows what is moved to other profiles, and how far.")
    int moves(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
        throws IOException, InterruptedException {
      return admin().show("profile-moves", isWatching);
    }

    @Command(name = "stop", description = "Stops a move. What is moved already stays there.")
    int stop(@Parameters(paramLabel = "ID", description = "Of a move, as listed.") String id)
        throws IOException, InterruptedException {
      return admin().change("profile-move-stop", id, null);
    }
  }

  @Command(
      name = "metadata",
      description = "Lists and changes the metadata peers of a cluster; backs metadata up.")
  static final class Metadata extends Listed {
    private static final String PEER = "HOST:PORT of the new peer, started with --metadata-join.";
    private static final String OLD = "Id or HOST:PORT of a peer.";

    Metadata() {
      super("metadata");
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

    @Command(
        name = "backup",
        description =
            "Writes a backup of metadata to a new file, while the store serves. In a cluster:"
                + " --management names those of all metadata nodes.")
    int backup(
        @Parameters(paramLabel = "FILE", description = "New file. It will hold secrets.") Path file)
        throws IOException, InterruptedException {
      return admin().backUpMetadata(file);
    }

    @Command(
        name = "restore",
        description =
            "Fills empty metadata folders from a backup, while no process of the store runs. All"
                + " metadata nodes need it. Asks no server.")
    int restore(
        @Parameters(paramLabel = "FILE", description = "Backup.") Path file,
        @Option(
                names = "--metadata",
                paramLabel = "FOLDERS",
                split = ",",
                required = true,
                description =
                    "Metadata folders of this machine, as the server is told them: all of a store in"
                        + " one process, or the one of a metadata node.")
            List<Path> folders,
        @Option(
                names = "--time",
                paramLabel = "TIME",
                description =
                    "Time of the restore, as its first metadata node printed it: the same on all,"
                        + " within an hour. On the first one, leave it out.")
            @Nullable Instant time)
        throws IOException {
      return admin().restoreMetadata(file, folders, time);
    }

    @Command(
        name = "accept-restore",
        description =
            "Accepts the loss of what is newer than the restored backup: it is deleted from the"
                + " drives, and data is moved again.")
    int acceptRestore() throws IOException, InterruptedException {
      return admin().acceptRestore();
    }
  }

  @Command(
      name = "encryption",
      description = "Shows the keys that encrypt objects, and seals data keys anew.")
  static final class Encryption extends Noun {
    @Command(
        name = "status",
        description =
            "Shows the master keys and the renewal of the asked gateway, as the command does without"
                + " a verb.")
    int status(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
        throws IOException, InterruptedException {
      return admin().show("encryption", isWatching);
    }

    @Command(
        name = "renew",
        description =
            "Begins to seal the data keys anew that earlier master keys, or versions of KMS keys of"
                + " Vault, have sealed. No data is moved.")
    int renew() throws IOException, InterruptedException {
      return admin().change("encryption-renew", "", null);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
      return status(false);
    }
  }

  /** The limits of a quota. */
  private static final class Limits {
    @Option(
        names = "--bytes",
        paramLabel = "SIZE",
        description = "Limit of the bytes of all versions and parts, such as 500GiB.")
    private String bytes = "-";

    @Option(
        names = "--objects",
        paramLabel = "COUNT",
        description = "Limit of the number of versions and delete markers.")
    private String objects = "-";

    String text() {
      return bytes + "," + objects;
    }
  }

  @Command(
      name = "bucket",
      aliases = "buckets",
      description = "Lists buckets with what they hold, and sets their quotas and storage classes.")
  static final class Buckets extends Listed {
    Buckets() {
      super("buckets");
    }

    @Command(
        name = "set",
        description = "Sets the storage class of objects that are written without one.")
    int set(
        @Parameters(paramLabel = "BUCKET", description = "Name of the bucket.") String bucket,
        @Option(
                names = "--storage-class",
                paramLabel = "NAME",
                required = true,
                description = "Name of a profile, or STANDARD for the default of the store.")
            String storageClass)
        throws IOException, InterruptedException {
      return admin().change("bucket-class", bucket, storageClass);
    }

    @Command(
        name = "quota",
        description = "Sets the quota of a bucket. A limit that is not given is taken away.")
    int quota(
        @Parameters(paramLabel = "BUCKET", description = "Name of the bucket.") String bucket,
        @Mixin Limits limits)
        throws IOException, InterruptedException {
      return admin().change("bucket-quota", bucket, limits.text());
    }
  }

  @Command(
      name = "account",
      aliases = "accounts",
      description =
          "Lists, creates and deletes accounts and their root users' access keys; sets quotas.")
  static final class Accounts extends Listed {
    private static final String ID = "12 digits.";

    Accounts() {
      super("accounts");
    }

    @Command(
        name = "create",
        description = "Creates an account with an access key, whose secret is shown once.")
    int create(
        @Parameters(paramLabel = "NAME", description = "Any name.") String name,
        @Option(names = "--id", paramLabel = "ID", description = ID + " Default: chosen at random.")
            @Nullable String id,
        @Option(
                names = "--email",
                paramLabel = "ADDRESS",
                description = "For grants of ACLs by e-mail address.")
            @Nullable String email)
        throws IOException, InterruptedException {
      return admin()
          .changeAccount(
              "account-create", AdminCommand.parameters("name", name, "id", id, "email", email));
    }

    @Command(
        name = "delete",
        description = "Deletes an account without buckets, users, groups, roles and policies.")
    int delete(@Parameters(paramLabel = "ID", description = ID) String id)
        throws IOException, InterruptedException {
      return admin().changeAccount("account-delete", AdminCommand.parameters("id", id));
    }

    @Command(
        name = "create-key",
        description = "Creates another access key of the root user. The secret is shown once.")
    int createKey(@Parameters(paramLabel = "ID", description = ID) String id)
        throws IOException, InterruptedException {
      return admin().changeAccount("account-key-create", AdminCommand.parameters("id", id));
    }

    @Command(name = "delete-key", description = "Deletes an access key of the root user.")
    int deleteKey(
        @Parameters(paramLabel = "ID", description = ID) String id,
        @Parameters(paramLabel = "KEY", description = "The access key.") String key)
        throws IOException, InterruptedException {
      return admin()
          .changeAccount("account-key-delete", AdminCommand.parameters("id", id, "accessKey", key));
    }

    @Command(name = "usage", description = "Shows what the buckets of each account hold.")
    int usage(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
        throws IOException, InterruptedException {
      return admin().show("account-usage", isWatching);
    }

    @Command(
        name = "quota",
        description = "Sets the quota of an account. A limit that is not given is taken away.")
    int quota(
        @Parameters(paramLabel = "ACCOUNT", description = "Id of the account, or canonical id.")
            String account,
        @Mixin Limits limits)
        throws IOException, InterruptedException {
      return admin().change("account-quota", account, limits.text());
    }
  }

  @Command(name = "rebalance", description = "Shows what is moved between drives.")
  static final class Rebalance extends Noun {
    @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE)
    private boolean isWatching;

    @Override
    public Integer call() throws IOException, InterruptedException {
      return isWatching
          ? admin().watchProgress("rebalance", false)
          : admin().show("rebalance", false);
    }

    @Command(name = "pause", description = "Pauses all moves. Repair continues.")
    int pause() throws IOException, InterruptedException {
      return admin().change("pause", null, null);
    }

    @Command(name = "resume", description = "Resumes moves.")
    int resume() throws IOException, InterruptedException {
      return admin().change("resume", null, null);
    }
  }

  @Command(name = "scrub", description = "Shows or starts the scrubs of processes with drives.")
  static final class Scrub extends Noun {
    @Option(names = "--start", description = "Start a pass on every drive.")
    private boolean isStarting;

    @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE)
    private boolean isWatching;

    @Override
    public Integer call() throws IOException, InterruptedException {
      return admin().scrub(isStarting, isWatching);
    }
  }
}
