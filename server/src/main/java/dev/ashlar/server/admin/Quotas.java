package dev.ashlar.server.admin;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetAccountQuota;
import dev.ashlar.protocol.message.SetBucketQuota;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.model.ByteSize;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.server.admin.Admin.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What buckets and accounts hold, and the limits of that. */
record Quotas(MetadataClient metadata) {
  /** The limit that is none. */
  private static final String UNLIMITED = "-";

  private static final int ACCOUNT_ID_DIGITS = 12;

  /**
   * What a bucket holds, older versions and parts of uploads included.
   *
   * @param owner canonical id
   * @param objects versions and delete markers
   * @param uploadBytes of the bytes, those of parts of uploads
   * @param counted whether everything is counted; a bucket of an older build is not for a while
   * @param quotaBytes null: no limit
   * @param quotaObjects likewise
   * @param storageClass of objects that are written without one
   */
  record BucketUsage(
      String name,
      String owner,
      long objects,
      long bytes,
      long uploadBytes,
      boolean counted,
      @Nullable Long quotaBytes,
      @Nullable Long quotaObjects,
      String storageClass) {}

  /**
   * What all buckets of an account hold.
   *
   * @param owner canonical id
   * @param account 12 digits; empty: the owner has no account yet
   */
  record AccountUsage(
      String owner,
      String account,
      long objects,
      long bytes,
      long uploadBytes,
      @Nullable Long quotaBytes,
      @Nullable Long quotaObjects) {}

  List<BucketUsage> buckets() throws MetadataUnavailableException {
    List<BucketUsage> all = new ArrayList<>();
    for (BucketRow bucket : metadata.buckets()) {
      all.add(usage(bucket));
    }
    return all;
  }

  private BucketUsage usage(BucketRow bucket) throws MetadataUnavailableException {
    UsageRow used = metadata.bucketUsage(bucket.getName()).orElse(UsageRow.getDefaultInstance());
    return new BucketUsage(
        bucket.getName(),
        bucket.getOwner(),
        used.getObjects(),
        used.getBytes(),
        used.getUploadBytes(),
        used.getComplete(),
        limit(bucket.getQuota().getBytesMax()),
        limit(bucket.getQuota().getObjectsMax()),
        PlacedProfile.className(bucket.getStorageClass()));
  }

  /** The accounts that have buckets. */
  List<AccountUsage> accounts() throws MetadataUnavailableException {
    TreeSet<String> owners = new TreeSet<>();
    metadata.buckets().forEach(bucket -> owners.add(bucket.getOwner()));
    List<AccountUsage> all = new ArrayList<>();
    for (String owner : owners) {
      all.add(usage(owner));
    }
    return all;
  }

  private AccountUsage usage(String owner) throws MetadataUnavailableException {
    UsageRow used = metadata.accountUsage(owner).orElse(UsageRow.getDefaultInstance());
    return new AccountUsage(
        owner,
        account(AccountQuery.newBuilder().setCanonicalId(owner))
            .map(value -> value.getAccount().getId())
            .orElse(""),
        used.getObjects(),
        used.getBytes(),
        used.getUploadBytes(),
        limit(used.getQuota().getBytesMax()),
        limit(used.getQuota().getObjectsMax()));
  }

  private static @Nullable Long limit(long max) {
    return max == 0 ? null : max;
  }

  /**
   * Sets the quota of a bucket and returns what the bucket holds.
   *
   * @param limits bytes and objects, separated by a comma, each {@code -} for no limit
   */
  BucketUsage ofBucket(String name, String limits)
      throws MetadataUnavailableException, RefusedException {
    SetBucketQuota.Builder set = SetBucketQuota.newBuilder().setBucket(name);
    quota(limits).ifPresent(set::setQuota);
    submit(Command.newBuilder().setSetBucketQuota(set));
    Optional<BucketRow> bucket = metadata.bucket(name);
    if (bucket.isEmpty()) {
      throw new RefusedException("there is no bucket " + name);
    }
    return usage(bucket.get());
  }

  /**
   * Sets the quota of an account and returns what its buckets hold.
   *
   * @param account its 12 digits, or its canonical id
   * @param limits as for a bucket
   */
  AccountUsage ofAccount(String account, String limits)
      throws MetadataUnavailableException, RefusedException {
    String owner = owner(account);
    SetAccountQuota.Builder set = SetAccountQuota.newBuilder().setOwner(owner);
    quota(limits).ifPresent(set::setQuota);
    submit(Command.newBuilder().setSetAccountQuota(set));
    return usage(owner);
  }

  private String owner(String account) throws MetadataUnavailableException, RefusedException {
    AccountQuery.Builder query = AccountQuery.newBuilder();
    boolean isId =
        account.length() == ACCOUNT_ID_DIGITS && account.chars().allMatch(Character::isDigit);
    Optional<AccountValue> found =
        account(isId ? query.setId(account) : query.setCanonicalId(account));
    if (found.isPresent()) {
      return found.get().getAccount().getCanonicalId();
    }
    // Owners from before there were accounts have none until they are needed.
    if (metadata.buckets().stream().noneMatch(bucket -> bucket.getOwner().equals(account))) {
      throw new RefusedException("there is no account " + account);
    }
    return account;
  }

  private Optional<AccountValue> account(AccountQuery.Builder query)
      throws MetadataUnavailableException {
    return metadata.account(query.build());
  }

  private void submit(Command.Builder command)
      throws MetadataUnavailableException, RefusedException {
    CommandResult result = metadata.submit(command);
    if (result.getCode() == ResultCode.NO_SUCH_BUCKET) {
      throw new RefusedException("there is no such bucket");
    }
    if (result.getCode() != ResultCode.OK) {
      throw new RefusedException("metadata refuses it: " + result.getCode());
    }
  }

  /** Empty: no limit at all. */
  private static Optional<Quota> quota(String limits) throws RefusedException {
    String[] parts = limits.split(",", -1);
    if (parts.length != 2) {
      throw new RefusedException("'" + limits + "' is not of the form BYTES,OBJECTS");
    }
    Quota quota =
        Quota.newBuilder().setBytesMax(number(parts[0])).setObjectsMax(number(parts[1])).build();
    return quota.equals(Quota.getDefaultInstance()) ? Optional.empty() : Optional.of(quota);
  }

  private static long number(String limit) throws RefusedException {
    if (limit.equals(UNLIMITED)) {
      return 0;
    }
    try {
      long number = ByteSize.parse(limit);
      if (number > 0) {
        return number;
      }
    } catch (IllegalArgumentException e) {
      throw new RefusedException(String.valueOf(e.getMessage()));
    }
    throw new RefusedException("a limit is at least 1");
  }
}
