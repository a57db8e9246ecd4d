package dev.ashlar.gateway.access.policy.value;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Computes the values of a condition key at its first use and keeps them. For one thread. */
public final class RequestValues {
  private final ConditionContext context;
  private final Map<String, List<CodePoints>> known = new HashMap<>();

  public RequestValues(ConditionContext context) {
    this.context = context;
  }

  /**
   * @param key in lower case
   */
  public List<CodePoints> of(String key) {
    List<CodePoints> values = known.get(key);
    if (values == null) {
      values = context.values(key).stream().map(CodePoints::of).toList();
      known.put(key, values);
    }
    return values;
  }

  /** Null unless the key has exactly one value: only such a key can stand for a variable. */
  @Nullable CodePoints single(String key) {
    List<CodePoints> values = of(key);
    return values.size() == 1 ? values.get(0) : null;
  }
}
