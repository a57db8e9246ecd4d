package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Lists pairs of blob and attempt that have intents, each pair once. The index orders the intents
 * of a blob by slot first, so all intents of a blob are collected before they are sorted.
 */
public final class AttemptPage implements ShardIndex.IntentVisitor {
  private final long session;
  private final @Nullable DiscardIntent after;
  private final int max;
  private final List<DiscardIntent> found = new ArrayList<>();
  private final TreeSet<DiscardIntent> ofBlob = new TreeSet<>();

  private AttemptPage(long session, @Nullable DiscardIntent after, int max) {
    this.session = session;
    this.after = after;
    this.max = max;
  }

  public static List<DiscardIntent> of(
      ShardIndex index, long session, @Nullable DiscardIntent after, int max) throws IOException {
    AttemptPage page = new AttemptPage(session, after, max);
    index.forEachIntent(after == null ? null : after.blob(), page);
    page.endBlob();
    return page.found.subList(0, Math.min(page.found.size(), max));
  }

  @Override
  public boolean intent(BlobId blob, AttemptId attempt) {
    if (!ofBlob.isEmpty() && !ofBlob.first().blob().equals(blob)) {
      endBlob();
    }
    DiscardIntent each = new DiscardIntent(blob, attempt);
    boolean isBehind = after == null || each.compareTo(after) > 0;
    if (isBehind && Long.compareUnsigned(attempt.session(), session) < 0) {
      ofBlob.add(each);
    }
    return found.size() < max;
  }

  private void endBlob() {
    found.addAll(ofBlob);
    ofBlob.clear();
  }
}
