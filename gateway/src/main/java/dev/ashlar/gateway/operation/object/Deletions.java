package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import java.util.Collections;
import java.util.List;

/** Deletes from a bucket. */
record Deletions(Backend backend, String bucket) {
  // As many keys of the greatest length fit into one Raft entry.
  private static final int TARGETS_PER_COMMAND = 250;
  private static final int BYTES_PER_COMMAND = TARGETS_PER_COMMAND * 1100;

  /**
   * Deletes, with as few commands as possible.
   *
   * @param areVersionsKept whether keys of the bucket may have several versions
   * @param results gets what came of each target; some may have failed, the others are deleted all
   *     the same. When this method throws, it has that of the first targets
   */
  void delete(List<DeleteTarget> targets, boolean areVersionsKept, List<DeleteResult> results)
      throws S3Exception, MetadataUnavailableException {
    boolean isPlain =
        !areVersionsKept
            && targets.stream().noneMatch(it -> it.hasVersion() || it.hasPrecondition());
    for (int from = 0; from < targets.size(); ) {
      int to = end(targets, from);
      results.addAll(deleteAtOnce(targets.subList(from, to), isPlain));
      from = to;
    }
  }

  /** How far targets from here on fit into one command. */
  private static int end(List<DeleteTarget> targets, int from) {
    int bytes = targets.get(from).getSerializedSize();
    int to = from + 1;
    while (to < targets.size() && to - from < TARGETS_PER_COMMAND) {
      bytes += targets.get(to).getSerializedSize();
      if (bytes > BYTES_PER_COMMAND) {
        return to;
      }
      to++;
    }
    return to;
  }

  private List<DeleteResult> deleteAtOnce(List<DeleteTarget> targets, boolean isPlain)
      throws S3Exception, MetadataUnavailableException {
    DeleteObjects.Builder delete = DeleteObjects.newBuilder().setBucket(bucket);
    if (isPlain) {
      targets.forEach(target -> delete.addKeys(target.getKey()));
      backend.submit(backend.command().setDeleteObjects(delete));
      return Collections.nCopies(targets.size(), DeleteResult.getDefaultInstance());
    }
    List<DeleteResult> results =
        backend
            .submit(backend.command().setDeleteObjects(delete.addAllTargets(targets)))
            .getDeletesList();
    if (results.size() != targets.size()) {
      // While metadata of before versions is in use it does not heed targets.
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE);
    }
    return results;
  }
}
