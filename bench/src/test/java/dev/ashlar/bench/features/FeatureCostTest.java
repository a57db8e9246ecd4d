package dev.ashlar.bench.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.bench.features.Comparison.Limit;
import dev.ashlar.bench.features.FeatureCost.Pair;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class FeatureCostTest {
  private static final List<Pair> PASSES =
      List.of(new Pair(100, 105), new Pair(50, 60), new Pair(200, 900));

  @Test
  void onePassThatIsFarOffMovesNothing() {
    FeatureCost cost = FeatureCost.of("f", PASSES, new Limit.Ratio(1.2));
    assertEquals(100, cost.withoutMicros());
    assertEquals(105, cost.withMicros());
    assertEquals(1.2, cost.ratio(), 1e-9);
    assertEquals(10, cost.addedMicros(), 1e-9);
    assertTrue(cost.isWithin());
  }

  @Test
  void whatCostsMoreIsNotWithin() {
    assertFalse(FeatureCost.of("f", PASSES, new Limit.Ratio(1.1)).isWithin());
    assertFalse(FeatureCost.of("f", PASSES, new Limit.Added(9)).isWithin());
    assertTrue(FeatureCost.of("f", PASSES, new Limit.Added(10)).isWithin());
  }

  @Test
  void thePolicyIsAsLargeAsS3AllowsAndJson() throws Exception {
    String policy = PolicyOfFullSize.of("bucket");
    int bytes = policy.getBytes(StandardCharsets.UTF_8).length;
    assertTrue(bytes > 20_000 && bytes <= 20_480, () -> bytes + " bytes");
    JsonNode statements = new ObjectMapper().readTree(policy).get("Statement");
    assertTrue(statements.size() > 100, () -> statements.size() + " statements");
  }
}
