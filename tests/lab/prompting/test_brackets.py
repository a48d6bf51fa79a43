from __future__ import annotations

from trigner.lab.prompting.brackets import Bracketed, bracketed


def test_lists_of_objects_and_empty_ones_in_order():
    text = 'see [1] and [x]: [{"a": "]"}] then [] and [ {"b": [2]} ]'
    assert list(bracketed(text, "[")) == [
        Bracketed('[{"a": "]"}]', True),
        Bracketed("[]", True),
        Bracketed('[ {"b": [2]} ]', True),
    ]


def test_a_list_without_end_is_cut_behind_its_last_whole_object():
    assert list(bracketed('[{"a": {"b": 1}}, {"a": 2', "[")) == [
        Bracketed('[{"a": {"b": 1}}]', False)
    ]
    assert list(bracketed('[{"a": 1', "[")) == []


def test_objects_by_themselves_are_outermost():
    assert list(bracketed('{"a": {"b": 1}} or {} or {"c', "{")) == [
        Bracketed('{"a": {"b": 1}}', True),
        Bracketed("{}", True),
    ]


def test_quotes_open_strings_where_values_start_only():
    assert list(bracketed("[{'a': 'it's ]'}] isn't", "[")) == [Bracketed("[{'a': 'it's ]'}]", True)]
    assert list(bracketed('[{"a": "\\"]"}]', "[")) == [Bracketed('[{"a": "\\"]"}]', True)]


def test_brackets_that_do_not_match():
    assert list(bracketed("[{]", "[")) == []
